// A linear-Gaussian state space with scalar measurements: filter and smoother.
#pragma once

#include <span>
#include <vector>

#include "experiments/zoo/tools/linear.h"

namespace psn::zoo {

struct StateSpace {
  Matrix transition, noise;  // noise: covariance of a step
  std::vector<double> start;
  Matrix start_covariance;
  std::vector<double> measured;  // what is seen of the state
  double measurement_variance;
};

struct State {
  std::vector<double> mean;
  Matrix covariance;
};

struct Smoothed {
  std::vector<State> states;
  double log_evidence = 0;
};

Smoothed kalman_smoother(const StateSpace& space, std::span<const double> seen);

}  // namespace psn::zoo
