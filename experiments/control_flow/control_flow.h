// The paper's first experiment: stochastic control flow. A loop of random length with a nested
// if/else; the task is the posterior of theta given x = 5.
#pragma once

#include <cstddef>
#include <vector>

#include "psn/core/model.h"

namespace psn::control_flow {

Model model();

// The exact posterior of theta given x. Given the number of loops n and the number k of them that
// took the first branch, x is normal, so
//   p(x | theta) = sum_n (1 - theta) theta^(n-1) sum_k Bin(k; n, 0.7) N(x; k + 1.5 (n - k), ...),
// and theta is integrated on a grid.
class ExactPosterior {
 public:
  explicit ExactPosterior(double x, std::size_t max_loops = 400, std::size_t grid = 20'000);

  double mean() const;
  double sd() const;
  double quantile(double p) const;
  double evidence() const { return evidence_; }
  // Probabilities of equal parts of [0, 1].
  std::vector<double> histogram(std::size_t bins) const;
  // P(number of loops = n | x), n = 1, 2, ...
  const std::vector<double>& loops() const { return loops_; }

 private:
  std::vector<double> theta_;    // midpoints of the grid
  std::vector<double> density_;  // normalised to sum one
  std::vector<double> loops_;
  double evidence_ = 0;
};

}  // namespace psn::control_flow
