// Importance sampling (the paper's Section 2.2): traces under a guide q, weighted by
//   w = p(x_lat, x_obs) / q(x_lat | x_obs).
// With the prior as the guide this is likelihood weighting; with an inference network it is
// inference compilation.
#pragma once

#include "psn/infer/engines.h"

namespace psn {

// The model's own prior as the guide.
GuideFactory prior_guide();

// Traces that the simulator could not finish are missing: the posterior is then that of the runs
// that succeed. Simulator::failures() tells how many.
Posterior importance_sampling(Simulator& simulator, const Observations& observations,
                              const EngineOptions& options,
                              const GuideFactory& make_guide = prior_guide());

// The guide's own traces, all of the same weight: as close to the posterior as the guide is, and no
// closer. What the observations weigh is not asked, so this says nothing about the evidence.
Posterior guided_draws(Simulator& simulator, const Observations& observations,
                       const EngineOptions& options, const GuideFactory& make_guide);

// Traces of the model itself, all observations drawn: weights are equal.
Posterior simulate(Simulator& simulator, const EngineOptions& options);

}  // namespace psn
