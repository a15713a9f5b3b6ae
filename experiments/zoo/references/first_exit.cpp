// The density of the position while the walk is inside, step by step, at the nodes of a quadrature
// rule.
#include <cmath>

#include "experiments/zoo/references/references.h"
#include "experiments/zoo/tools/linear.h"
#include "experiments/zoo/tools/weighted_points.h"
#include "psn/base/numerics.h"
#include "psn/core/distribution.h"

namespace psn::zoo::references {
namespace {

constexpr double kStrip = 8;
constexpr Axis kDrift = {-1.8, 1.8, 180};

// Of a step from x that ends outside and is seen at `place`: of two normals with variance 1, the
// step and the noise, given their sum.
double exit_density(double x, double drift, double place) {
  const double middle = (x + drift + place) / 2, sd = M_SQRT1_2;
  const double outside = normal_cdf((-kStrip - middle) / sd) + normal_cdf((middle - kStrip) / sd);
  return std::exp(family::Normal::log_prob({x + drift, M_SQRT2}, place)) * outside;
}

// Densities of going out at step 1, 2, ... and being seen there.
std::vector<double> exits(double drift, double place, std::size_t steps, const Rule& rule) {
  const std::size_t n = rule.nodes.size();
  Matrix kernel(n, n);
  std::vector<double> inside(n), out(n), result = {exit_density(0, drift, place)};
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      kernel(i, j) = rule.weights[j] *
                     std::exp(family::Normal::log_prob({rule.nodes[j] + drift, 1}, rule.nodes[i]));
    }
    inside[i] = std::exp(family::Normal::log_prob({drift, 1}, rule.nodes[i]));
    out[i] = rule.weights[i] * exit_density(rule.nodes[i], drift, place);
  }
  while (result.size() < steps) {
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += inside[i] * out[i];
    result.push_back(sum);
    inside = kernel * inside;
  }
  return result;
}

WeightedPoints first_exit_posterior(double duration, double place) {
  // Longer walks are more than seven of the clock's standard deviations away.
  const auto steps = static_cast<std::size_t>(std::ceil(2.2 * duration));
  const Rule rule = gauss_legendre(48, -kStrip, kStrip);
  WeightedPoints result;
  each_cell({&kDrift, 1}, [&](std::span<const double> drift) {
    const double prior = family::Normal::log_prob({0, 0.3}, drift[0]) + std::log(kDrift.width());
    const std::vector<double> out = exits(drift[0], place, steps, rule);
    for (std::size_t k = 0; k < steps; ++k) {
      const auto count = static_cast<double>(k + 1);
      const double point[] = {drift[0], count};
      result.add(
          prior + std::log(out[k]) + family::LogNormal::log_prob({std::log(count), 0.1}, duration),
          point);
    }
  });
  return result;
}

}  // namespace

Answer first_exit(double duration, double place) {
  return first_exit_posterior(duration, place).answer();
}

std::vector<double> draw_first_exit(double duration, double place, std::size_t rows,
                                    std::uint64_t seed) {
  Rng rng(seed);
  const WeightedPoints posterior = first_exit_posterior(duration, place);
  std::vector<double> result;
  for (const std::size_t i : posterior.choose(rows, rng)) {
    result.push_back(posterior.point(i)[0] + kDrift.width() * (rng.uniform() - 0.5));
    result.push_back(posterior.point(i)[1]);
  }
  return result;
}

}  // namespace psn::zoo::references
