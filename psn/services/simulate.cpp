#include "psn/services/simulate.h"

#include <algorithm>
#include <mutex>
#include <unordered_set>

#include "psn/infer/importance.h"

namespace psn::services {
SimulationResult simulate(const SimulationJob& job, Host& host) {
  ForwardRun forward(job, host);
  const std::uint64_t count = job.simulation.count;
  SimulationResult result{.model = forward.simulator().name()};
  result.records.resize(std::min<std::uint64_t>(job.recorded, count));
  const ModelSurvey& survey = forward.survey();
  Posterior samples(
      job.queries.empty() ? survey.default_queries(true) : survey.queries(job.queries),
      job.columns ? count : 0);
  std::vector<char> failed(count);
  RunOptions run = forward.run_options(DrawsFor::kSimulation);
  run.keep_distributions = job.distributions;
  run.failed = [&](std::uint64_t i) { failed[i] = 1; };
  std::uint64_t choices = 0;
  std::unordered_set<const Address*> addresses;
  std::mutex mutex;
  const Stopwatch clock;
  run_traces(
      forward.simulator(), count, prior_guide(),
      [&](std::uint64_t i, Trace& trace) {
        if (job.columns) samples.put(i, trace, 0);
        const std::lock_guard lock(mutex);
        const std::size_t length = trace.length();
        choices += length;
        result.longest = std::max(result.longest, length);
        for (const Entry& entry : trace.entries) addresses.insert(entry.address);
        if (i < result.records.size()) result.records[i] = record_of(trace);
      },
      run, job.simulation.parallelism);
  result.traces_per_second = static_cast<double>(count) / clock.seconds();
  const auto finished = static_cast<double>(std::count(failed.begin(), failed.end(), 0));
  result.mean_length = static_cast<double>(choices) / finished;
  result.addresses = addresses.size();
  if (job.columns) result.samples = samples.filter([&](std::size_t i) { return !failed[i]; });
  result.report = forward.report();
  result.report.surrogate = surrogate_quality(job.simulation.model);
  return result;
}

}  // namespace psn::services
