// What a posterior says of one component of a quantity, and how well it knows that: for weighted
// samples and for Markov chains alike.
#pragma once

#include <cstddef>
#include <string_view>

#include "psn/core/posterior.h"

namespace psn {

// The Monte Carlo standard error of Posterior::mean(). The mean is a ratio of two means over all
// samples (of the quantity, and of its occurring); each sample's influence on it is, to first order
// (the delta method), its weight times
//   h = [it occurs] (x - mean) / probability.
// Independent samples: the root of the sum of (weight h)^2. Chains: the standard deviation of h
// over the root of the effective sample size of h along the chains. NaN for a constant or too short
// chain, or where it never occurs.
double mean_standard_error(const Posterior& posterior, std::string_view name,
                           std::size_t component = 0);

struct Interval {
  double low, high;
};

// The narrowest interval with this mass among the samples in which it occurs; the lowest of
// several. NaN where it never occurs. Throws InvalidArgument for a mass outside of (0, 1].
Interval highest_density_interval(const Posterior& posterior, std::string_view name, double mass,
                                  std::size_t component = 0);

}  // namespace psn
