// How well a surrogate stands in for its simulator. Blocking; in one process.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "psn/report/agreement.h"
#include "psn/services/simulators.h"
#include "psn/services/trace_record.h"
#include "psn/train/comparison.h"

namespace psn::services {

inline constexpr const char* kBadRange = "`range`: two numbers, the lower one first, such as 0,1";

struct ComparisonJob {
  SimulationOptions simulation;    // of the model; `count`: traces of each
  std::string surrogate;           // its file
  std::uint64_t min_count = 1000;  // transitions count from addresses left so often in both
  // Also compare the mean of one variable in bins of another; empty: not.
  std::string bin, by;
  std::size_t bins = 10;
  std::optional<std::pair<double, double>> range;  // of the bins; nullopt: all of `by`

  void check() const;  // throws InvalidArgument
};

// A statistic, and what it is between two samples of the simulator: sampling alone.
struct WithFloor {
  double value = 0, floor = 0;
};

struct BinnedComparison {
  std::vector<Bin> simulator, surrogate;
};

struct ComparisonResult {
  ConditionalDeviation conditional;
  std::vector<TransitionDeviation> transitions;  // the largest deviation first
  WithFloor transition;                          // the largest deviation of a probability
  WithFloor frequency;                           // the same of how often, per trace
  WithFloor path_total_variation;
  std::optional<BinnedComparison> conditional_means;
  // A few traces of the simulator, and the same as the surrogate sees them.
  std::vector<TraceRecord> simulated, learned;
  Failures failures;  // of the simulator
};

// Throws InvalidArgument for names that cannot be those of a model and of a surrogate of it.
void check_model_and_surrogate(const std::string& model, const std::string& surrogate);

// Throws InvalidArgument, besides for what check() says, for a surrogate of another model.
ComparisonResult compare(const ComparisonJob& job, Host& host);

}  // namespace psn::services
