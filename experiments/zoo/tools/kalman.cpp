#include "experiments/zoo/tools/kalman.h"

#include <cmath>

#include "psn/base/numerics.h"

namespace psn::zoo {
namespace {

// Conditions a state on what is seen of it; returns the log density of that.
double update(State& state, const StateSpace& space, double seen) {
  const std::vector<double> gain = state.covariance * space.measured;
  double variance = space.measurement_variance, residual = seen;
  for (std::size_t i = 0; i < gain.size(); ++i) {
    variance += space.measured[i] * gain[i];
    residual -= space.measured[i] * state.mean[i];
  }
  for (std::size_t i = 0; i < gain.size(); ++i) {
    state.mean[i] += gain[i] * residual / variance;
    for (std::size_t j = 0; j < gain.size(); ++j) {
      state.covariance(i, j) -= gain[i] * gain[j] / variance;
    }
  }
  return -0.5 * residual * residual / variance - 0.5 * std::log(variance) - kLogSqrt2Pi;
}

State predict(const State& state, const StateSpace& space) {
  return {space.transition * state.mean,
          sum(space.transition * state.covariance * space.transition.transposed(), space.noise)};
}

// a b^-1, for a positive definite b.
Matrix divided(const Matrix& a, const Matrix& b) {
  const Matrix l = cholesky(b);
  Matrix result = a;
  const std::size_t n = b.rows();
  for (std::size_t i = 0; i < a.rows(); ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t k = 0; k < j; ++k) result(i, j) -= result(i, k) * l(j, k);
      result(i, j) /= l(j, j);
    }
    for (std::size_t j = n; j-- > 0;) {
      for (std::size_t k = j + 1; k < n; ++k) result(i, j) -= result(i, k) * l(k, j);
      result(i, j) /= l(j, j);
    }
  }
  return result;
}

// Of a filtered state, what the smoothed next one says (Rauch, Tung and Striebel).
void look_back(State& state, const StateSpace& space, const State& next) {
  const State predicted = predict(state, space);
  const Matrix gain =
      divided(state.covariance * space.transition.transposed(), predicted.covariance);
  std::vector<double> news = next.mean;
  for (std::size_t i = 0; i < news.size(); ++i) news[i] -= predicted.mean[i];
  const std::vector<double> shift = gain * news;
  for (std::size_t i = 0; i < shift.size(); ++i) state.mean[i] += shift[i];
  const Matrix change = sum(next.covariance, predicted.covariance, -1);
  state.covariance = sum(state.covariance, gain * change * gain.transposed());
}

}  // namespace

Smoothed kalman_smoother(const StateSpace& space, std::span<const double> seen) {
  Smoothed result;
  State state{space.start, space.start_covariance};
  for (std::size_t t = 0; t < seen.size(); ++t) {
    if (t > 0) state = predict(state, space);
    result.log_evidence += update(state, space, seen[t]);
    result.states.push_back(state);
  }
  for (std::size_t t = seen.size() - 1; t-- > 0;) {
    look_back(result.states[t], space, result.states[t + 1]);
  }
  return result;
}

}  // namespace psn::zoo
