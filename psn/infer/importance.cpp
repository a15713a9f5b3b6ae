#include "psn/infer/importance.h"

#include <mutex>
#include <unordered_set>

namespace psn {
namespace {

// Rows of traces that the simulator could not finish are left out.
Posterior weighted_traces(Simulator& simulator, const RunOptions& how, const EngineOptions& options,
                          const GuideFactory& make_guide) {
  Posterior posterior(options.queries, options.samples, options.keep_traces);
  std::unordered_set<std::uint64_t> failed;
  std::mutex mutex;
  RunOptions run_options = how;
  run_options.failed = [&](std::uint64_t i) {
    const std::lock_guard lock(mutex);
    failed.insert(i - options.first);
  };
  run_traces(
      simulator, options.samples, make_guide,
      [&](std::uint64_t i, Trace& trace) {
        posterior.put(i - options.first, trace, trace.log_weight);
        if (options.draws) options.draws->offer(i, trace, trace.log_weight);
      },
      run_options, options.parallelism);
  if (failed.empty()) return posterior;
  return posterior.filter([&](std::size_t i) { return !failed.contains(i); });
}

}  // namespace

GuideFactory prior_guide() {
  return [] { return std::make_unique<PriorGuide>(); };
}

Posterior importance_sampling(Simulator& simulator, const Observations& observations,
                              const EngineOptions& options, const GuideFactory& make_guide) {
  return weighted_traces(simulator, options.run_options(&observations), options, make_guide);
}

Posterior simulate(Simulator& simulator, const EngineOptions& options) {
  RunOptions forward = options.run_options(nullptr);
  forward.seed = seed_for(DrawsFor::kSimulation, options.seed);
  return weighted_traces(simulator, forward, options, prior_guide());
}

}  // namespace psn
