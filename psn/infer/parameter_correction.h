// From a surrogate's posterior to the simulator's, for programs of which only a few latents theta
// can be proposed: a density q is fitted to the surrogate's posterior of theta, and mixed with the
// prior p (a share of runs); each run of the simulator takes theta from it, draws all else itself,
// and is weighed by
//   w = p(theta) p(y | theta, rest) / ((1 - share) q(theta) + share p(theta)),
// which is exact whatever the surrogate is, and never above 1 / share times the likelihood.
#pragma once

#include <string>
#include <vector>

#include "psn/infer/engines.h"

namespace psn {

struct ParameterCorrection {
  std::vector<std::string> parameters;  // names, addresses or lists
  double prior_share = 0.1;
};

// `surrogate`: weighted samples with whole traces, with distributions. options.samples is the
// number of runs; those that fail have no weight. The mean weight is the simulator's evidence.
// Throws ModelError if no run has a weight, or for parameters that some runs do not have.
Posterior correct_parameters(Simulator& simulator, const Observations& observations,
                             const Posterior& surrogate, const ParameterCorrection& how,
                             const EngineOptions& options);

}  // namespace psn
