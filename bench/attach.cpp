// Runs of an attached program by copies of one process beside starts of their own, with 50 ms of
// set-up and without; and of the same program (four draws) beside one that speaks PPX, which need
// not be started again.
//
//   build/bin/bench_attach [seconds for each]
//
// Compare ratios within a run: processes wake each other through the kernel.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "psn/attach/simulator.h"
#include "psn/infer/importance.h"
#include "psn/ppx/remote.h"

namespace psn {
namespace {

double runs_per_second(Simulator& simulator, double seconds) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  std::uint64_t runs = 0;
  double elapsed = 0;
  while (elapsed < seconds) {
    EngineOptions options;
    options.samples = std::max<std::uint64_t>(20, runs / 2);
    options.seed = runs;
    simulate(simulator, options);
    runs += options.samples;
    elapsed = std::chrono::duration<double>(Clock::now() - start).count();
  }
  return static_cast<double>(runs) / elapsed;
}

double attached(const std::string& command, bool fresh, double seconds) {
  attach::AttachOptions options;
  options.settings.fresh = fresh;
  attach::AttachedSimulator simulator("attach:" + command, options);
  return runs_per_second(simulator, seconds);
}

void compare(const char* what, const std::string& command, double seconds) {
  const double copies = attached(command, false, seconds),
               starts = attached(command, true, seconds);
  fmt::print("{:28} {:9.1f} copies/s {:9.1f} starts/s   ratio {:6.1f}\n", what, copies, starts,
             copies / starts);
}

int bench(const std::filesystem::path& programs, double seconds) {
  compare("50 ms of set-up, one draw", (programs / "attach_odd slow").string(), seconds);
  compare("no set-up, four draws", (programs / "twin_libc hmm").string(), seconds);
  ppx::RemoteOptions options;
  options.workers = 2;
  ppx::RemoteSimulator remote(
      fmt::format("exec:{} gaussian {{endpoint}}", (programs / "ppx_peer_c").string()), options);
  fmt::print("{:28} {:9.1f} runs/s\n", "PPX, four round trips", runs_per_second(remote, seconds));
  return 0;
}

}  // namespace
}  // namespace psn

int main(int argc, char** argv) {
  const auto programs = std::filesystem::canonical("/proc/self/exe").parent_path();
  return psn::bench(programs, argc > 1 ? std::atof(argv[1]) : 3);
}
