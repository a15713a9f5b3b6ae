// The paper's Section 4.1 from beginning to end: a surrogate and an inference network are trained,
// and the posterior of theta given x = 5 is inferred in the simulator and in the surrogate. Both
// networks are kept in the request's directory, and used again if they are there.
#pragma once

#include "experiments/common/experiment.h"

namespace psn::control_flow {

ExperimentReport run_experiment(const ExperimentRequest& request);

}  // namespace psn::control_flow
