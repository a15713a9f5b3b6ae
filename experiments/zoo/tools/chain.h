// A random walk of Metropolis on a log density, in code that shares nothing with psn's engines. The
// density may be an unbiased estimate (a particle filter's): the chain keeps the one it accepted,
// and is exact all the same (Andrieu and Roberts 2009).
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "experiments/zoo/zoo.h"
#include "psn/base/rng.h"

namespace psn::zoo {

using NoisyLogDensity = std::function<double(std::span<const double>, Rng&)>;

struct ChainPlan {
  std::vector<double> start, step;  // standard deviations of the first steps
  std::size_t warm_up = 20'000;     // steps that learn the shape of later ones, and are left out
  std::size_t rows = 10'000;        // kept
  std::size_t thinning = 1;         // steps for each of them
  std::uint64_t seed = 1;
};

// Rows of draws.
std::vector<double> random_walk(const NoisyLogDensity& log_density, const ChainPlan& plan);

// Moments of rows, with standard errors from the means of 50 batches.
Answer moments_of(const std::vector<double>& rows, std::size_t width);

}  // namespace psn::zoo
