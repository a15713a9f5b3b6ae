#include "psn/services/trace_slices.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "psn/base/error.h"
#include "psn/data/shuffle.h"
#include "psn/data/store.h"
#include "psn/infer/importance.h"

namespace psn::services {
namespace {

constexpr std::uint64_t kSlice = 8192;

}  // namespace

double run_slices(Simulator& simulator, const SimulationOptions& options, SliceOf whose, Host& host,
                  const UseSlice& use) {
  Rng seeds(options.seed, static_cast<std::uint32_t>(whose), 0x636d70);
  double seconds = 0;
  for (std::uint64_t first = 0; first < options.count; first += kSlice) {
    std::vector<Trace> traces(std::min(kSlice, options.count - first));
    std::vector<char> failed(traces.size());
    RunOptions run = options.run_options(host);
    run.seed = seeds.bits();
    run.keep_distributions = true;
    run.failed = [&](std::uint64_t i) { failed[i] = 1; };
    const Stopwatch clock;
    run_traces(
        simulator, traces.size(), prior_guide(),
        [&](std::uint64_t i, Trace& trace) { std::swap(traces[i], trace); }, run,
        options.parallelism);
    seconds += clock.seconds();
    std::size_t kept = 0;
    for (std::size_t i = 0; i < traces.size(); ++i) {
      if (!failed[i]) std::swap(traces[kept++], traces[i]);
    }
    traces.resize(kept);
    use(traces);
  }
  return seconds;
}

void read_slices(const std::string& store, std::uint64_t count, bool all, const Host& host,
                 const UseSlice& use) {
  data::StoreReader reader(store);
  const std::uint64_t there = all ? reader.size() : data::Split::held_out_count(reader.size());
  count = std::min(count, there);
  if (count == 0) {
    throw InvalidArgument(fmt::format(
        "'{}' has {} traces: none of them is held out from training; `all_traces` takes them all",
        store, reader.size()));
  }
  for (std::uint64_t first = 0; first < count; first += kSlice) {
    std::vector<Trace> traces;
    for (std::uint64_t n = first; n < std::min(count, first + kSlice); ++n) {
      if (host.monitor().stop.load()) throw Interrupted();
      traces.push_back(reader.read(all ? n : data::Split::held_out(n)));
    }
    use(traces);
  }
}

}  // namespace psn::services
