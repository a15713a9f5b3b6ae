#include "apps/psn/models.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "experiments/composite_cure/composite_cure.h"
#include "experiments/control_flow/control_flow.h"
#include "experiments/program_synthesis/program_synthesis.h"
#include "experiments/reference/reference.h"
#include "psn/base/error.h"
#include "psn/base/text.h"
#include "psn/core/plugin.h"
#include "psn/nn/network_file.h"
#include "psn/nn/surrogate.h"

namespace psn::app {
namespace {

Model load_plugin(const std::string& path) {
  // Never closed: the model's code lives there for as long as the process.
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) throw DataError(fmt::format("cannot load plugin '{}': {}", path, ::dlerror()));
  auto* version = reinterpret_cast<unsigned (*)()>(::dlsym(library, "psn_plugin_version"));
  auto* make = reinterpret_cast<Model* (*)()>(::dlsym(library, "psn_plugin_model"));
  if (!version || !make) {
    throw DataError(fmt::format("'{}' is no psn plugin: it has no PSN_PLUGIN(...)", path));
  }
  if (version() != PSN_PLUGIN_VERSION) {
    throw DataError(fmt::format("plugin '{}' was built for another psn (interface {}, this is {})",
                                path, version(), PSN_PLUGIN_VERSION));
  }
  try {
    Model model = *std::unique_ptr<Model>(make());
    model.name = one_line(model.name);
    model.description = one_line(model.description);
    return model;
  } catch (const std::exception& error) {
    throw ModelError(fmt::format("plugin '{}' cannot make its model: {}", path, error.what()));
  }
}

Model load_model(const std::string& argument) {
  if (argument.find("://") != std::string::npos) {
    const bool known = argument.starts_with("tcp://") || argument.starts_with("ipc://");
    throw InvalidArgument(fmt::format("unknown model '{}'; {} (a simulator that serves there)",
                                      argument,
                                      known ? fmt::format("did you mean 'ppx+{}'?", argument)
                                            : "it may be ppx+tcp://HOST:PORT or ppx+ipc:///PATH"));
  }
  if (argument.find('/') != std::string::npos || argument.ends_with(".so")) {
    return load_plugin(argument);
  }
  std::vector<std::string> names;
  for (Model& model : built_in_models()) {
    if (model.name == argument) return std::move(model);
    names.push_back(model.name);
  }
  throw InvalidArgument(
      fmt::format("unknown model '{}'{} (psn models lists the built-in ones; "
                  "a plugin is a path such as ./libmodel.so, a surrogate a "
                  "file such as s.psn)",
                  argument, suggestion(argument, names)));
}

}  // namespace

std::vector<Model> built_in_models() {
  return {control_flow::model(),      program_synthesis::model(), composite_cure::model(),
          composite_cure::model_2d(), reference::gaussian(),      reference::gaussian_marsaglia(),
          reference::hmm(),           reference::branching(),     reference::epidemic()};
}

std::unique_ptr<Simulator> load_simulator(const SimulationOptions& options,
                                          const std::string& argument) {
  return load_simulator(argument, options.stack_kib,
                        options.remote.options(options.count, options.time_limit));
}

std::unique_ptr<Simulator> load_simulator(const std::string& argument, std::size_t stack_kib,
                                          const ppx::RemoteOptions& remote) {
  if (ppx::is_remote(argument)) return std::make_unique<ppx::RemoteSimulator>(argument, remote);
  if (argument.ends_with(".psn")) {
    return std::make_unique<SurrogateSimulator>(argument, load_network(argument).network);
  }
  Model model = load_model(argument);
  if (stack_kib > 0) model.stack_size = stack_kib * 1024;
  return std::make_unique<InProcess>(std::move(model), remote.max_failures);
}

}  // namespace psn::app
