#include "psn/services/simulators.h"

#include <fmt/format.h>

#include <cmath>
#include <sstream>

#include "psn/attach/simulator.h"
#include "psn/base/error.h"
#include "psn/base/text.h"
#include "psn/core/in_process.h"
#include "psn/io/atomic_file.h"
#include "psn/nn/network_file.h"
#include "psn/ppx/remote.h"
#include "psn/services/plugin.h"

namespace psn::services {
namespace {

Model named_model(const std::string& argument, const Host& host) {
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
  for (Model& model : host.models()) {
    if (model.name == argument) return std::move(model);
    names.push_back(model.name);
  }
  throw InvalidArgument(
      fmt::format("unknown model '{}'{} (psn models lists the built-in ones; "
                  "a plugin is a path such as ./libmodel.so, a surrogate a "
                  "file such as s.psn)",
                  argument, suggestion(argument, names)));
}

std::uint64_t allowed_failures(const RemoteSettings& remote, std::uint64_t runs) {
  return static_cast<std::uint64_t>(std::floor(remote.max_failures * static_cast<double>(runs)));
}

ppx::RemoteOptions remote_options(const SimulatorSettings& settings, std::uint64_t runs) {
  const RemoteSettings& remote = settings.remote;
  ppx::RemoteOptions options{.workers = remote.workers,
                             .max_failures = allowed_failures(remote, runs),
                             .message_limit = settings.time_limit,
                             .run_limit = remote.run_limit};
  if (remote.start_limit) options.start_limit = options.reach_limit = *remote.start_limit;
  if (!remote.curve_server.empty()) {
    options.keys.server_key = read_keys(remote.curve_server, 1)[0];
  }
  if (!remote.curve_keys.empty()) {
    const auto pair = read_keys(remote.curve_keys, 2);
    options.keys.own = {pair[0], pair[1]};
  }
  return options;
}

std::unique_ptr<Simulator> open_attached(const std::string& model,
                                         const SimulatorSettings& settings, std::uint64_t runs) {
  const RemoteSettings& remote = settings.remote;
  attach::AttachOptions options{.runs_at_once = remote.workers > 1 ? remote.workers : 0,
                                .max_failures = allowed_failures(remote, runs),
                                .start_limit = remote.start_limit.value_or(60),
                                .message_limit = settings.time_limit,
                                .run_limit = remote.run_limit};
  if (!remote.attach.empty()) options.settings = attach::read_settings(remote.attach);
  return std::make_unique<attach::AttachedSimulator>(model, std::move(options));
}

}  // namespace

std::vector<std::string> read_keys(const std::string& path, std::size_t count) {
  std::istringstream in(read_file(path, 1 << 20));
  std::vector<std::string> keys;
  for (std::string key; in >> key;) keys.push_back(key);
  for (const std::string& key : keys) {
    if (key.size() != 40) throw DataError(fmt::format("'{}': a key has 40 characters", path));
  }
  if (keys.size() != count) {
    throw DataError(fmt::format("'{}' holds {} keys, not {}", path, keys.size(), count));
  }
  return keys;
}

std::unique_ptr<Simulator> open_simulator(const std::string& model,
                                          const SimulatorSettings& settings, std::uint64_t runs,
                                          const Host& host) {
  if (attach::is_attached(model)) return open_attached(model, settings, runs);
  if (!settings.remote.attach.empty()) {
    throw InvalidArgument(
        fmt::format("`attach` is for programs, attach:COMMAND; '{}' is none", model));
  }
  const ppx::RemoteOptions remote = remote_options(settings, runs);
  if (ppx::is_remote(model)) return std::make_unique<ppx::RemoteSimulator>(model, remote);
  if (model.ends_with(".psn")) {
    return std::make_unique<SurrogateSimulator>(model, load_network(model).network);
  }
  Model opened = named_model(model, host);
  if (settings.stack_kib > 0) opened.stack_size = settings.stack_kib * 1024;
  return std::make_unique<InProcess>(std::move(opened), remote.max_failures);
}

std::unique_ptr<Simulator> open_simulator(const SimulationOptions& options, const SurrogateUse& use,
                                          const Host& host, bool needs_simulator) {
  const std::string& model = options.model;
  const bool falls_back = use.unknown == SurrogateOptions::Unknown::kSimulator;
  if (falls_back && use.simulator.empty()) {
    throw InvalidArgument("`unknown` simulator needs the model to go on in: `simulator` MODEL");
  }
  if (!falls_back && !needs_simulator && !use.simulator.empty()) {
    throw InvalidArgument(
        "`simulator` has no use here: it is for `unknown` simulator, and for `correct` of psn "
        "infer");
  }
  if (use.unknown == SurrogateOptions::Unknown::kRenormalise) return open_simulator(options, host);
  if (!model.ends_with(".psn")) {
    throw InvalidArgument(
        fmt::format("`unknown` is for surrogates, files such as s.psn; '{}' is none", model));
  }
  SurrogateOptions surrogate{.unknown = use.unknown};
  if (falls_back) {
    surrogate.simulator = open_simulator(use.simulator, options, options.count, host);
  }
  return std::make_unique<SurrogateSimulator>(model, load_network(model).network, surrogate);
}

}  // namespace psn::services
