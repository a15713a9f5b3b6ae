// Where a number lies among others that should be of its kind, from 0 to 1, and uniform if they
// are. Ties are broken at random, so that this holds for counts and categories as well.
#pragma once

#include <cstddef>
#include <span>

#include "psn/base/rng.h"

namespace psn::evidence {

// Among draws of its own distribution: (how many are smaller, and a part of those that are equal
// and of itself) / (n + 1). Exactly uniform, for any distribution and any n.
double place_among(double x, std::span<const double> draws, Rng& rng);

// Among weighted draws: x counts as one more, with the weight that a draw of the posterior has on
// average, sum w^2 / sum w, of which there are as many as the effective sample size. With equal
// weights this is place_among(). Draws of weight zero count for nothing; NaN, what does not occur,
// is left out. If nothing is left, x is alone: uniform.
double weighted_place(double x, std::span<const double> draws, std::span<const double> weights,
                      Rng& rng);

}  // namespace psn::evidence
