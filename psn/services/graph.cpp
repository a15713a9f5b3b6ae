#include "psn/services/graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "psn/infer/importance.h"

namespace psn::services {
namespace {

// By a few runs more, in which loops that say what they are have the accepted round alone.
std::vector<RejectionLoop> rejection_loops(const GraphJob& job, ForwardRun& forward) {
  constexpr std::uint64_t kMost = 1'000, kPart = 10;
  RejectionLoops loops;
  std::mutex mutex;
  std::map<std::uint64_t, Trace> traces;  // in order: sums and lists depend on it
  RunOptions run = forward.run_options(DrawsFor::kSurvey);
  run.keep_distributions = true;
  run.monitor = nullptr;
  run.failed = [](std::uint64_t) {};
  run_traces(
      forward.simulator(), std::min(kMost, job.simulation.count / kPart),
      [] { return std::make_unique<PriorGuide>(true); },
      [&](std::uint64_t i, Trace& trace) {
        const std::lock_guard lock(mutex);
        std::swap(traces[i], trace);
      },
      run, job.simulation.parallelism);
  for (const auto& [i, trace] : traces) loops.add(trace);
  return loops.found();
}

}  // namespace

GraphResult graph(const GraphJob& job, Host& host) {
  ForwardRun forward(job, host);
  TransitionGraph transitions(job.nodes);
  std::mutex mutex;
  RunOptions run = forward.run_options(DrawsFor::kGraph);
  run.failed = [](std::uint64_t) {};  // the report has them
  run_traces(
      forward.simulator(), job.simulation.count, prior_guide(),
      [&](std::uint64_t, Trace& trace) {
        const std::lock_guard lock(mutex);
        transitions.add(trace);
      },
      run, job.simulation.parallelism);
  return {transitions.traces(), transitions.edges(), rejection_loops(job, forward),
          forward.report()};
}

std::vector<std::string> loop_warnings(const std::vector<RejectionLoop>& loops) {
  std::vector<std::string> warnings;
  for (const RejectionLoop& loop : loops) {
    warnings.push_back(fmt::format(
        "'{}' is drawn again and again, {:.1f} times where more than once, as if until something "
        "held: if only the last round is used, write the loop with until(body, accept), and "
        "inference networks need not explain the others",
        fmt::join(loop.choices, "', '"), loop.rounds));
  }
  return warnings;
}

}  // namespace psn::services
