// What the experiment finds, before it is written down.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "experiments/common/experiment_folder.h"
#include "experiments/control_flow/control_flow.h"
#include "psn/core/posterior.h"
#include "psn/report/agreement.h"
#include "psn/train/comparison.h"

namespace psn::control_flow {

inline constexpr double kObserved = 5;  // x

// Traces of the simulator or of the surrogate, for the transition graphs and conditionals.
struct Forward {
  TransitionGraph transitions;
  PathCounts paths;
  std::vector<std::pair<double, double>> go_on;                // theta, c_0
  std::map<int, std::pair<std::uint64_t, double>> x_by_loops;  // count, sum of x
  double traces_per_second = 0;
};

struct Inferred {
  Posterior posterior;
  double ess = 0;
  double traces_per_second = 0;
};

struct Results {
  TrainedNetwork surrogate, inference;
  ConditionalDeviation deviation;
  Forward simulator, simulator_again, surrogate_traces;
  std::optional<Inferred> lmh, ic_simulator, ic_surrogate;
};

ExperimentReport write_report(const Results& results, const ExperimentRequest& request);

}  // namespace psn::control_flow
