#include "psn/services/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "psn/base/error.h"
#include "psn/nn/network_file.h"
#include "psn/nn/run/surrogate.h"
#include "psn/services/model_survey.h"
#include "psn/services/run_report.h"
#include "psn/services/trace_slices.h"

namespace psn::services {
namespace {

// What is kept of the traces of one side.
struct ComparedSide {
  TransitionGraph transitions;
  PathCounts paths;
  std::vector<std::pair<double, double>> pairs;  // by, bin where both occur

  void add(const Trace& trace, const ComparisonJob& job) {
    transitions.add(trace);
    paths.add(trace);
    if (job.bin.empty()) return;
    const Value *by = trace.find(job.by), *bin = trace.find(job.bin);
    if (by && bin) pairs.emplace_back(by->scalar(), bin->scalar());
  }
};

ComparedSide run_side(Simulator& simulator, const ComparisonJob& job, SliceOf whose, Host& host,
                      const UseSlice& use = {}) {
  ComparedSide side;
  run_slices(simulator, job.simulation, whose, host, [&](std::span<const Trace> traces) {
    for (const Trace& trace : traces) side.add(trace, job);
    if (use) use(traces);
  });
  return side;
}

double largest(const std::vector<TransitionDeviation>& deviations) {
  return deviations.empty() ? 0 : std::abs(deviations.front().difference());
}

// The largest difference in how often a transition is taken, per trace. Less noisy than that of
// probabilities, which for rare addresses rest on few traces.
double largest_of_frequencies(const std::vector<TransitionDeviation>& deviations) {
  double result = 0;
  for (const TransitionDeviation& t : deviations) {
    result = std::max(result, std::abs(t.frequency[1] - t.frequency[0]));
  }
  return result;
}

BinnedComparison compare_bins(const ComparedSide& simulator, const ComparedSide& surrogate,
                              const ComparisonJob& job) {
  if (simulator.pairs.empty()) {
    throw InvalidArgument(fmt::format("`bin` '{}' `by` '{}': no trace has both", job.bin, job.by));
  }
  double low = kInfinity, high = -kInfinity;
  for (const auto& [by, bin] : simulator.pairs) {
    low = std::min(low, by);
    high = std::max(high, by);
  }
  if (job.range) std::tie(low, high) = *job.range;
  return {binned_means(simulator.pairs, low, high, job.bins),
          binned_means(surrogate.pairs, low, high, job.bins)};
}

// Throws InvalidArgument for names in `bin` and `by` that the model does not have as numbers.
void check_names(const ComparisonJob& job, Simulator& simulator, Host& host) {
  const SimulationOptions& s = job.simulation;
  std::vector<std::string> names;
  if (!job.bin.empty()) names = {job.bin, job.by};
  const ModelSurvey survey(simulator, s.parallelism, s.run_options(host), names);
  for (const Query& query : survey.queries(names, "`bin` or `by`")) {
    if (element_count(query.shape) == 1) continue;
    throw InvalidArgument(fmt::format("`bin` or `by` '{}': not a number but an array", query.name));
  }
}

}  // namespace

void check_model_and_surrogate(const std::string& model, const std::string& surrogate) {
  if (!surrogate.ends_with(".psn")) {
    throw InvalidArgument(fmt::format(
        "'{}' is no surrogate: the second argument is a file such as s.psn", surrogate));
  }
  if (model.ends_with(".psn")) {
    throw InvalidArgument(
        fmt::format("'{}' is a surrogate: the first argument is the model that "
                    "it was learned from",
                    model));
  }
}

void ComparisonJob::check() const {
  check_model_and_surrogate(simulation.model, surrogate);
  if (simulation.count < min_count) {
    throw InvalidArgument(
        fmt::format("`count` {}: too few traces to compare; at least `min_count` {}",
                    simulation.count, min_count));
  }
  if (bin.empty() != by.empty()) throw InvalidArgument("`bin` and `by` belong together");
  if (range && !(range->first < range->second)) {
    throw InvalidArgument(kBadRange);
  }
}

ComparisonResult compare(const ComparisonJob& job, Host& host) {
  job.check();
  const auto simulator = open_simulator(job.simulation, host);
  SurrogateSimulator surrogate(job.surrogate, load_network(job.surrogate).network);
  const WorkScope work(host, {.label = job.simulation.model, .total = 3 * job.simulation.count});
  check_names(job, *simulator, host);

  ConditionalComparison comparison(surrogate.network());
  std::vector<TraceRecord> simulated, under_surrogate;
  const ComparedSide real =
      run_side(*simulator, job, SliceOf::kSimulator, host, [&](std::span<const Trace> traces) {
        comparison.add(traces);
        if (!simulated.empty()) return;
        const auto first = traces.first(std::min(kTracesKept, traces.size()));
        for (const Trace& trace : first) simulated.push_back(record_of(trace));
        under_surrogate = records_under(surrogate.compiled(), first);
      });
  ComparisonResult result{.conditional = comparison.result()};
  const ComparedSide again = run_side(*simulator, job, SliceOf::kSimulatorAgain, host);
  const ComparedSide learned = run_side(surrogate, job, SliceOf::kSurrogate, host);

  result.transitions = transition_deviations(real.transitions, learned.transitions, job.min_count);
  const auto floor = transition_deviations(real.transitions, again.transitions, job.min_count);
  result.transition = {largest(result.transitions), largest(floor)};
  result.frequency = {largest_of_frequencies(result.transitions), largest_of_frequencies(floor)};
  result.path_total_variation = {PathCounts::total_variation(real.paths, learned.paths),
                                 PathCounts::total_variation(real.paths, again.paths)};
  if (!job.bin.empty()) result.conditional_means = compare_bins(real, learned, job);
  result.simulated = std::move(simulated);
  result.learned = std::move(under_surrogate);
  result.failures = all_failures(*simulator, host);
  return result;
}

}  // namespace psn::services
