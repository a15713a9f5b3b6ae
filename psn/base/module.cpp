#include "psn/base/module.h"

#include <dlfcn.h>

#include <filesystem>

namespace psn {

void* symbol_of_module(const char* module, const char* symbol) {
  Dl_info here{};
  dladdr(reinterpret_cast<const void*>(&symbol_of_module), &here);
  const auto path = std::filesystem::path(here.dli_fname).parent_path() / module;
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  return library ? dlsym(library, symbol) : nullptr;
}

}  // namespace psn
