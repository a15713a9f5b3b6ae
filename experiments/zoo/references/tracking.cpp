#include <cmath>

#include "experiments/zoo/references/references.h"
#include "experiments/zoo/tools/kalman.h"

namespace psn::zoo::references {

Answer tracking(Data seen, const std::vector<std::size_t>& times) {
  Matrix turn(2, 2);
  turn(0, 0) = turn(1, 1) = 0.95 * std::cos(0.3);
  turn(1, 0) = 0.95 * std::sin(0.3);
  turn(0, 1) = -turn(1, 0);
  const double step[] = {0.09, 0.09}, start[] = {1, 1};
  const StateSpace space{.transition = turn,
                         .noise = Matrix::diagonal(step),
                         .start = {0, 0},
                         .start_covariance = Matrix::diagonal(start),
                         .measured = {1, 0},
                         .measurement_variance = 0.64};
  const Smoothed smoothed = kalman_smoother(space, seen);
  Answer result;
  for (const std::size_t t : times) {
    const State& state = smoothed.states[t];
    for (std::size_t k = 0; k < 2; ++k) {
      result.mean.push_back(state.mean[k]);
      result.sd.push_back(std::sqrt(state.covariance(k, k)));
    }
  }
  result.log_evidence = smoothed.log_evidence;
  return result;
}

}  // namespace psn::zoo::references
