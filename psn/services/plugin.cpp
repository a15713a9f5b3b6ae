#include "psn/services/plugin.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <memory>

#include "psn/base/error.h"
#include "psn/base/text.h"
#include "psn/core/plugin.h"

namespace psn::services {

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

}  // namespace psn::services
