// The likelihood by a filter on a grid over h, half a step's standard deviation apart, five
// stationary ones to either side: exact but for rounding. A grid over the parameters on top.
#include <algorithm>
#include <cmath>

#include "experiments/zoo/references/kept.h"
#include "experiments/zoo/references/references.h"
#include "experiments/zoo/tools/weighted_points.h"
#include "psn/core/distribution.h"

namespace psn::zoo::references {
namespace {

constexpr Kept kVolatility[] = {
#include "experiments/zoo/references/kept/volatility.inc"
};

class VolatilityFilter {
 public:
  // In units of a step's standard deviation around the level.
  explicit VolatilityFilter(double persistence) {
    const double reach = 5 / std::sqrt(1 - persistence * persistence);
    side_ = static_cast<std::ptrdiff_t>(std::ceil(reach / kCell));
    for (std::ptrdiff_t i = -side_; i <= side_; ++i) {
      const double z = kCell * static_cast<double>(i);
      start_.push_back(kCell * density(z, 1 / std::sqrt(1 - persistence * persistence)));
      const auto first = static_cast<std::ptrdiff_t>(std::floor(persistence * z / kCell)) - kNear;
      first_.push_back(first);
      for (std::ptrdiff_t j = first; j <= first + 2 * kNear + 1; ++j) {
        kernel_.push_back(kCell * density(kCell * static_cast<double>(j) - persistence * z, 1));
      }
    }
  }

  double log_likelihood(Data returns, double level, double spread) const {
    std::vector<double> p = start_, scale;
    for (std::size_t i = 0; i < p.size(); ++i) {
      const auto z = kCell * static_cast<double>(static_cast<std::ptrdiff_t>(i) - side_);
      scale.push_back(std::exp((level + spread * z) / -2));
    }
    double result = 0;
    for (std::size_t t = 0; t < returns.size(); ++t) {
      if (t > 0) p = step(p);
      double sum = 0;
      for (std::size_t i = 0; i < p.size(); ++i) {
        const double z = returns[t] * scale[i];
        sum += p[i] *= scale[i] * std::exp(-0.5 * z * z - kLogSqrt2Pi);
      }
      for (double& x : p) x /= sum;
      result += std::log(sum);
    }
    return result;
  }

 private:
  static constexpr double kCell = 0.5;
  static constexpr std::ptrdiff_t kNear = 13;  // cells of a step to either side

  static double density(double z, double sd) {
    return std::exp(family::Normal::log_prob({0, sd}, z));
  }

  std::vector<double> step(const std::vector<double>& p) const {
    std::vector<double> next(p.size());
    for (std::size_t i = 0; i < p.size(); ++i) {
      const double* kernel = &kernel_[i * (2 * kNear + 2)];
      for (std::ptrdiff_t k = 0; k < 2 * kNear + 2; ++k) {
        const std::ptrdiff_t to = first_[i] + k + side_;
        if (to >= 0 && to <= 2 * side_) next[static_cast<std::size_t>(to)] += p[i] * kernel[k];
      }
    }
    return next;
  }

  std::ptrdiff_t side_ = 0;
  std::vector<double> start_, kernel_;
  std::vector<std::ptrdiff_t> first_;
};

}  // namespace

double volatility_likelihood(Data returns, double level, double persistence, double spread) {
  return VolatilityFilter(persistence).log_likelihood(returns, level, spread);
}

Answer volatility() {
  return answer_of(kVolatility);
}

Answer volatility_long_run(Data returns) {
  // Midpoints in the logarithm of the spread.
  const Axis axes[] = {{-4, 4, 32}, {0.7, 0.99, 40}, {std::log(0.03), std::log(2.0), 24}};
  const double log_cell = std::log(axes[0].width() * axes[1].width() * axes[2].width() / 0.29);
  WeightedPoints posterior;
  each_cell(axes, [&](std::span<const double> p) {
    const double spread = std::exp(p[2]), point[] = {p[0], p[1], spread};
    posterior.add(log_cell + family::Normal::log_prob({0, 1}, p[0]) +
                      family::Normal::log_prob({std::log(0.3), 0.5}, p[2]) +
                      volatility_likelihood(returns, p[0], p[1], spread),
                  point);
  });
  return posterior.answer();
}

}  // namespace psn::zoo::references
