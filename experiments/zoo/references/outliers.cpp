#include <cmath>

#include "experiments/zoo/references/references.h"
#include "experiments/zoo/tools/weighted_points.h"
#include "psn/core/distribution.h"

namespace psn::zoo::references {
namespace {

Grid outliers_posterior(Data y, std::size_t cells) {
  const auto log_density = [&](std::span<const double> p) {
    double sum = family::Normal::log_prob({0, 2}, p[0]) + family::Normal::log_prob({0, 2}, p[1]) +
                 family::Beta::log_prob({1, 4}, p[2]);
    for (std::size_t i = 0; i < y.size(); ++i) {
      const double d = y[i] - p[0] - p[1] * (static_cast<double>(i) / 25 - 1);
      sum += std::log((1 - p[2]) / 0.5 * std::exp(-2 * d * d) + p[2] / 4 * std::exp(-d * d / 32)) -
             kLogSqrt2Pi;
    }
    return sum;
  };
  return focused_grid({{-8, 8, cells}, {-8, 8, cells}, {0, 1, cells}}, log_density);
}

}  // namespace

Answer outliers(Data y) {
  return outliers_posterior(y, 30).answer();
}

std::vector<double> draw_outliers(Data y, std::size_t rows, std::uint64_t seed) {
  Rng rng(seed);
  return outliers_posterior(y, 50).draw(rows, rng);
}

}  // namespace psn::zoo::references
