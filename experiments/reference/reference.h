// Small programs with known posteriors, to check engines against and to start from.
#pragma once

#include "psn/core/model.h"

namespace psn::reference {

// mu ~ Normal(1, sqrt 5); obs0, obs1 ~ Normal(mu, sqrt 2).
Model gaussian();

// The same, with mu drawn by Marsaglia's polar method: a rejection loop, so that the number of
// choices is unbounded. mu is a tag.
Model gaussian_marsaglia();

// A hidden Markov model: states x_0..x_15 in {0, 1, 2}, observations obs_t ~ Normal(mean, 1).
Model hmm();

// The same with 64 steps, the data four times over.
Model hmm_64();

// A Poisson count that selects deeper branches: count ~ Poisson(4); a large count fixes the rate
// of the observation, a small one adds a Fibonacci number and another Poisson variable.
Model branching();

// A stochastic epidemic among 20 people, event by event: contact rate and recovery rate, then for
// each event its waiting time `wait_i` and whether it is an infection, `infection_i`, until nobody
// is ill; then the weekly counts of reported infections, reported_0..9.
Model epidemic();

// What `hmm` is made of, for exact answers.
struct HmmParameters {
  double initial[3] = {1.0 / 3, 1.0 / 3, 1.0 / 3};
  double transition[3][3] = {{0.7, 0.2, 0.1}, {0.15, 0.7, 0.15}, {0.1, 0.3, 0.6}};
  double mean[3] = {-1, 0.5, 2};
  double noise = 1;
  double data[16] = {-0.8, -1.3, 0.2,  0.9,  0.4, 1.1, 2.4, 1.7,
                     2.2,  0.3,  -0.6, -1.1, 0.1, 0.8, 1.9, 2.6};
};

}  // namespace psn::reference
