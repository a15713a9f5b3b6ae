// The paper's Section 4.3 from beginning to end: traces of the simulator are stored, a surrogate
// and an inference network are trained on them, and the thermal history of three parts is inferred
// in the simulator and in the surrogate. Then the surrogate is tuned to the cross-section.
//
// What takes long is kept in the request's directory, and used again if it is there: the stores of
// traces, the networks, and the posteriors by the prior proposal.
#pragma once

#include "experiments/composite_cure/plan.h"

namespace psn::composite_cure {

ExperimentReport run_experiment(const ExperimentRequest& request);
// The same with other sizes.
ExperimentReport run_experiment(const ExperimentRequest& request, const Plan& plan);

}  // namespace psn::composite_cure
