// Given the covariance, the means are normal around the average point, within the prior's square:
// an integral over one of them by quadrature, over the other in closed form. The rest is a grid
// over the covariance's three parameters. Signs of theta_2 and theta_3 make no difference.
#include <algorithm>
#include <cmath>

#include "experiments/zoo/references/references.h"
#include "experiments/zoo/tools/chain.h"
#include "experiments/zoo/tools/linear.h"
#include "experiments/zoo/tools/truncated.h"
#include "experiments/zoo/tools/weighted_points.h"
#include "psn/base/numerics.h"

namespace psn::zoo::references {
namespace {

constexpr double kSlcpEnd = 3;

struct Covariance {
  double xx, xy, yy;

  Covariance(double a, double b, double c)
      : xx(std::pow(a, 4) + 1e-6), xy(std::tanh(c) * a * a * b * b), yy(std::pow(b, 4) + 1e-6) {}
  double determinant() const { return xx * yy - xy * xy; }
  // Of a point at this distance from the mean.
  double log_density(double dx, double dy) const {
    const double d = determinant();
    return -0.5 * (dx * dx * yy - 2 * dx * dy * xy + dy * dy * xx) / d - 0.5 * std::log(d) -
           2 * kLogSqrt2Pi;
  }
};

struct Average {
  double x = 0, y = 0;
  Average(Data xs, Data ys) {
    for (std::size_t i = 0; i < xs.size(); ++i) {
      x += xs[i] / static_cast<double>(xs.size());
      y += ys[i] / static_cast<double>(xs.size());
    }
  }
};

// The means given the covariance, as a mixture over quadrature's nodes.
WeightedPoints means_given(const Covariance& c, const Average& average, std::size_t points,
                           const Rule& rule) {
  const auto n = static_cast<double>(points);
  const double sd = std::sqrt(c.xx / n), rest = std::sqrt(c.determinant() / c.xx / n);
  const double low = std::max(-kSlcpEnd, average.x - 8 * sd);
  const double high = std::min(kSlcpEnd, average.x + 8 * sd);
  WeightedPoints result;
  for (std::size_t i = 0; i < rule.nodes.size(); ++i) {
    const double x = low + (high - low) * rule.nodes[i], z = (x - average.x) / sd;
    const Truncated y =
        truncated_normal(average.y + c.xy / c.xx * (x - average.x), rest, -kSlcpEnd, kSlcpEnd);
    const double mean[] = {x, y.mean}, variance[] = {0, y.variance};
    result.add(
        std::log(rule.weights[i] * (high - low) / sd) - 0.5 * z * z - kLogSqrt2Pi + y.log_mass,
        mean, variance);
  }
  return result;
}

}  // namespace

Answer slcp(Data x, Data y) {
  constexpr std::size_t kCells = 48;
  const Average average(x, y);
  const Rule rule = gauss_legendre(24, 0, 1);
  const Axis axes[] = {{0, kSlcpEnd, kCells}, {0, kSlcpEnd, kCells}, {-kSlcpEnd, kSlcpEnd, kCells}};
  // Four times the cells of positive theta_2 and theta_3, times the prior of all five.
  const double log_cell = std::log(4 * axes[0].width() * axes[1].width() * axes[2].width()) -
                          5 * std::log(2 * kSlcpEnd);
  WeightedPoints posterior;
  each_cell(axes, [&](std::span<const double> t) {
    const Covariance c(t[0], t[1], t[2]);
    const auto n = static_cast<double>(x.size());
    double log_density = log_cell + 2 * kLogSqrt2Pi + 0.5 * std::log(c.determinant()) -
                         std::log(n);  // whose integral over all means is 1
    for (std::size_t i = 0; i < x.size(); ++i) {
      log_density += c.log_density(x[i] - average.x, y[i] - average.y);
    }
    if (log_density < -60) return;
    const Answer means = means_given(c, average, x.size(), rule).answer();
    const double mean[] = {means.mean[0], means.mean[1], 0, 0, t[2]};
    const double variance[] = {means.sd[0] * means.sd[0], means.sd[1] * means.sd[1], t[0] * t[0],
                               t[1] * t[1], 0};
    posterior.add(log_density + *means.log_evidence, mean, variance);
  });
  return posterior.answer();
}

std::vector<double> draw_slcp(Data x, Data y, std::size_t rows, std::uint64_t seed) {
  const auto log_density = [&](std::span<const double> t, Rng&) {
    if (std::any_of(t.begin(), t.end(), [](double v) { return std::abs(v) > kSlcpEnd; })) {
      return -kInfinity;
    }
    const Covariance c(t[2], t[3], t[4]);
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) sum += c.log_density(x[i] - t[0], y[i] - t[1]);
    return sum;
  };
  const Average average(x, y);
  auto result = random_walk(log_density, {.start = {average.x, average.y, 1, 1, 0},
                                          .step = {0.1, 0.1, 0.1, 0.1, 0.1},
                                          .warm_up = 100'000,
                                          .rows = rows,
                                          .thinning = 200,
                                          .seed = seed});
  Rng rng(seed, 1);
  for (std::size_t i = 0; i < result.size(); ++i) {
    const bool has_signs = i % 5 == 2 || i % 5 == 3;
    if (has_signs && rng.below(2) == 0) result[i] = -result[i];
  }
  return result;
}

}  // namespace psn::zoo::references
