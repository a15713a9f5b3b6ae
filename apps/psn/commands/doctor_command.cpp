// psn doctor: what this machine offers, and what is missing for which job.
#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/sysinfo.h>

#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "apps/psn/commands/commands.h"
#include "apps/psn/options/options.h"

namespace psn::app {
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

std::string one_dnn() {
  struct Version {  // the head of dnnl_version_t
    int major, minor, patch;
  };
  void* library = ::dlopen("libdnnl.so.2", RTLD_LAZY | RTLD_LOCAL);
  auto* version =
      library ? reinterpret_cast<const Version* (*)()>(::dlsym(library, "dnnl_version")) : nullptr;
  return version ? fmt::format("{}.{}.{}", version()->major, version()->minor, version()->patch)
                 : "none";
}

std::string mpi() {
  void* library = ::dlopen("libmpi.so.40", RTLD_LAZY | RTLD_LOCAL);
  auto* describe =
      library ? reinterpret_cast<int (*)(char*, int*)>(::dlsym(library, "MPI_Get_library_version"))
              : nullptr;
  if (!describe) return "none";
  char text[8192] = {};  // MPI_MAX_LIBRARY_VERSION_STRING is smaller in every implementation
  int length = 0;
  describe(text, &length);
  const std::string whole(text, static_cast<std::size_t>(length));
  return whole.substr(0, whole.find(','));
}

}  // namespace

void add_doctor_command(CLI::App& program) {
  auto* command = program.add_subcommand("doctor", "what psn finds on this machine");
  auto common = std::make_shared<CommonOptions>();
  common->add_to(*command);
  command->callback([common] {
    struct sysinfo memory {};
    ::sysinfo(&memory);
    const double gib = static_cast<double>(memory.totalram) * memory.mem_unit / 0x1p30;
    const auto cores = std::thread::hardware_concurrency();
    if (common->json) {
      const nlohmann::ordered_json json{{"version", PSN_VERSION},
                                        {"cpu", cpu_name()},
                                        {"features", cpu_features()},
                                        {"cores", cores},
                                        {"memory_gib", gib},
                                        {"onednn", one_dnn()},
                                        {"mpi", mpi()}};
      fmt::print("{}\n", json.dump(2));
      return;
    }
    fmt::print("psn      {}\n", PSN_VERSION);
    fmt::print("cpu      {}: {}\n", cpu_name(), fmt::join(cpu_features(), " "));
    fmt::print("cores    {}\n", cores);
    fmt::print("memory   {:.1f} GiB\n", gib);
    fmt::print("oneDNN   {}\n", one_dnn());
    fmt::print("MPI      {}\n", mpi());
  });
}

}  // namespace psn::app
