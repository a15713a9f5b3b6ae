#include "psn/infer/correction.h"

#include <algorithm>
#include <atomic>

#include "psn/base/error.h"
#include "psn/base/numerics.h"
#include "psn/infer/replay.h"

namespace psn {
namespace {

constexpr std::uint32_t kResampling = 0x726573;  // substream

double grouped_effective_sample_size(const Posterior& posterior,
                                     const std::vector<std::size_t>& group) {
  const std::vector<double> weights = posterior.weights();
  double squares = 0, sum = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    sum += weights[i];
    if (i + 1 < weights.size() && group[i + 1] == group[i]) continue;
    squares += sum * sum;
    sum = 0;
  }
  return 1 / squares;
}

}  // namespace

Correction correct_to_simulator(Simulator& simulator, const Observations& observations,
                                const Posterior& surrogate, const EngineOptions& options) {
  if (surrogate.traces().empty()) {
    throw InvalidArgument("a correction needs whole traces of the surrogate's posterior");
  }
  Rng rng(options.seed, 0, kResampling);
  const std::vector<std::size_t> rows = surrogate.resampled_rows(options.samples, rng);
  std::vector<Trace> traces;
  for (const std::size_t row : rows) {
    const Trace& trace = traces.emplace_back(surrogate.traces()[row]);
    if (trace.transitions.empty()) {
      throw InvalidArgument("a correction needs to know how probable the surrogate's paths are");
    }
  }
  // The mean weight is then the simulator's evidence.
  const double log_evidence = surrogate.log_evidence();

  RunOptions run_options = options.run_options(&observations);
  run_options.seed = seed_for(DrawsFor::kCorrection, options.seed);
  Correction result{Posterior(options.queries, options.samples, options.keep_traces)};
  std::atomic<std::uint64_t> diverged{0};
  std::vector<char> failed(options.samples);
  run_options.failed = [&](std::uint64_t i) { failed[i] = 1; };
  run_traces(
      simulator, options.samples,
      [&] {
        return std::make_unique<ReplayGuide>(
            [&](Slot, const Ticket& ticket) { return &traces[ticket.trace]; });
      },
      [&](std::uint64_t i, Trace& trace) {
        const bool same = same_path(trace, traces[i]);
        if (!same) diverged.fetch_add(1, std::memory_order_relaxed);
        const double log_weight = same ? trace.log_weight - log_density(traces[i]) -
                                             traces[i].log_transitions() + log_evidence
                                       : -kInfinity;
        result.posterior.put(i, trace, log_weight);
        if (options.draws) options.draws->offer(i, trace, log_weight);
      },
      run_options, options.parallelism);
  const auto succeeded = [&](std::size_t i) { return !failed[i]; };
  result.posterior = result.posterior.filter(succeeded);
  result.diverged = diverged;
  if (diverged == result.posterior.size()) {
    throw ModelError(
        "every run of the simulator took another path than the surrogate's sample that it was to "
        "follow: nothing is left to correct with; `parameters` NAME,NAME proposes these latents "
        "alone, and leaves the rest to the simulator");
  }
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (succeeded(i)) kept.push_back(rows[i]);
  }
  result.effective_sample_size = grouped_effective_sample_size(result.posterior, kept);
  return result;
}

}  // namespace psn
