// A step of a random walk within the support of a distribution: a Gaussian in each component,
// reflected at the ends of its support; where components hang together, in free coordinates.
#pragma once

#include <optional>

#include "psn/core/distribution.h"

namespace psn {

struct WalkStep {
  Value to;
  // log of the density of the step over that of the step back: 0 but in free coordinates.
  double log_ratio = 0;
};

// `step` is in units of the distribution's own spread, for the value as a whole. Nullopt where only
// the prior can propose.
std::optional<WalkStep> random_walk(const Distribution& distribution, const Value& from,
                                    double step, Rng& rng);

}  // namespace psn
