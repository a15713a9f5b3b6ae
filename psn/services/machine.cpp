#include "psn/services/machine.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <fstream>
#include <thread>

#include "psn/base/memory.h"

namespace psn::services {
namespace {

std::string cpu_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(": ") + 2);
  }
  return "unknown";
}

std::vector<std::string> cpu_features() {
  std::vector<std::string> features;
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("sse4.2")) features.emplace_back("sse4.2");
  if (__builtin_cpu_supports("avx2")) features.emplace_back("avx2");
  if (__builtin_cpu_supports("fma")) features.emplace_back("fma");
  if (__builtin_cpu_supports("avx512f")) features.emplace_back("avx512f");
  if (__builtin_cpu_supports("avx512vnni")) features.emplace_back("avx512vnni");
  if (__builtin_cpu_supports("avx512bf16")) features.emplace_back("avx512bf16");
#endif
  return features;
}

// A function of a library, or null.
template <class Function>
Function* find_function(const char* library, const char* name) {
  void* handle = ::dlopen(library, RTLD_LAZY | RTLD_LOCAL);
  return handle ? reinterpret_cast<Function*>(::dlsym(handle, name)) : nullptr;
}

std::string onednn_version() {
  struct Version {  // the head of dnnl_version_t
    int major, minor, patch;
  };
  const auto version = find_function<const Version*()>("libdnnl.so.2", "dnnl_version");
  if (!version) return "";
  return fmt::format("{}.{}.{}", version()->major, version()->minor, version()->patch);
}

std::string mpi_version() {
  const auto describe = find_function<int(char*, int*)>("libmpi.so.40", "MPI_Get_library_version");
  if (!describe) return "";
  char text[8192] = {};  // MPI_MAX_LIBRARY_VERSION_STRING is smaller in every implementation
  int length = 0;
  describe(text, &length);
  const std::string whole(text, static_cast<std::size_t>(length));
  return whole.substr(0, whole.find(','));
}

}  // namespace

Machine examine_machine() {
  return {.cpu = cpu_name(),
          .features = cpu_features(),
          .cores = std::thread::hardware_concurrency(),
          .memory_gib = static_cast<double>(physical_memory()) / 0x1p30,
          .onednn = onednn_version(),
          .mpi = mpi_version()};
}

}  // namespace psn::services
