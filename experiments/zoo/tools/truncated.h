// A normal distribution between two ends.
#pragma once

#include "psn/base/rng.h"

namespace psn::zoo {

struct Truncated {
  double log_mass;  // of the whole normal between the ends
  double mean, variance;
};
Truncated truncated_normal(double mean, double sd, double low, double high);

// By inversion.
double draw_truncated_normal(double mean, double sd, double low, double high, Rng& rng);

}  // namespace psn::zoo
