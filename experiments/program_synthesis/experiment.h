// The experiment as a whole: trains a surrogate, draws programs from the simulator and from the
// surrogate, checks and compares them. The surrogate is kept in the request's directory, and used
// again if it is there.
#pragma once

#include "experiments/common/experiment_folder.h"
#include "experiments/program_synthesis/sample.h"

namespace psn::program_synthesis {

struct Plan {
  Preset recipe;                    // the vocabulary is sites: the runtime counts their instances
  std::uint64_t programs = 50'000;  // to draw from each
};
Plan plan(const ExperimentRequest& request);

struct Results {
  // Measured along the curve is the share of valid programs; absent at first, where they hardly
  // ever end.
  TrainedNetwork trained;
  // Two samples of the simulator: their distance is what sampling alone makes of no difference.
  Sample simulator, simulator_again, surrogate;
  double markov_baseline = 0;
};

// Throws Interrupted if the monitor says stop.
Results measure(const ExperimentRequest& request, const Plan& plan);
ExperimentReport report(const ExperimentRequest& request, const Results& results);

inline ExperimentReport run_experiment(const ExperimentRequest& request) {
  return report(request, measure(request, plan(request)));
}

}  // namespace psn::program_synthesis
