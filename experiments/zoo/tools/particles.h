// A bootstrap particle filter for likelihoods that only simulation gives, in code that shares
// nothing with psn's engines.
#pragma once

#include <cmath>
#include <vector>

#include "psn/base/numerics.h"
#include "psn/base/rng.h"

namespace psn::zoo {

// The log of an unbiased estimate. `move(state, t, rng)` takes a particle to measurement t and
// returns the log density of that measurement.
template <class State, class Move>
double particle_log_likelihood(const State& start, std::size_t particles, std::size_t times,
                               Move move, Rng& rng) {
  std::vector<State> states(particles, start), chosen(particles);
  std::vector<double> weights(particles);
  double result = 0;
  for (std::size_t t = 0; t < times; ++t) {
    for (std::size_t i = 0; i < particles; ++i) weights[i] = move(states[i], t, rng);
    const double total = log_sum_exp(weights);
    if (total == -kInfinity) return total;
    result += total - std::log(static_cast<double>(particles));
    // Systematic resampling.
    double reached = 0, wanted = rng.uniform();
    std::size_t taken = 0;
    for (std::size_t i = 0; i < particles; ++i) {
      reached += static_cast<double>(particles) * std::exp(weights[i] - total);
      for (; wanted < reached && taken < particles; ++wanted) chosen[taken++] = states[i];
    }
    while (taken < particles) chosen[taken++] = states.back();  // rounding
    states.swap(chosen);
  }
  return result;
}

}  // namespace psn::zoo
