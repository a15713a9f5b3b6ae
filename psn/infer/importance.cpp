#include "psn/infer/importance.h"

namespace psn {

GuideFactory prior_guide() {
  return [] { return std::make_unique<PriorGuide>(); };
}

Posterior importance_sampling(Simulator& simulator, const Observations& observations,
                              const EngineOptions& options, const GuideFactory& make_guide) {
  Posterior posterior(options.queries, options.samples, options.keep_traces);
  run_traces(
      simulator, options.samples, make_guide,
      [&](std::uint64_t i, Trace& trace) { posterior.put(i, trace, trace.log_weight); },
      options.run_options(&observations), options.parallelism);
  return posterior;
}

Posterior simulate(Simulator& simulator, const EngineOptions& options) {
  Posterior posterior(options.queries, options.samples, options.keep_traces);
  run_traces(
      simulator, options.samples, prior_guide(),
      [&](std::uint64_t i, Trace& trace) { posterior.put(i, trace, trace.log_weight); },
      options.run_options(nullptr), options.parallelism);
  return posterior;
}

}  // namespace psn
