// Integrals over short vectors: over all of them by the trapezoidal rule, and over the simplex by
// the tanh-sinh rule, which copes with densities that are infinite at its edges.
#pragma once

#include <cmath>
#include <functional>
#include <vector>

#include "psn/core/distribution.h"

namespace psn {

using VectorFunction = std::function<double(const Value&)>;

// Over the box from `low` to `high`; what is integrated must vanish at its sides.
inline double integrate_box(const std::vector<double>& low, const std::vector<double>& high,
                            std::size_t points, const VectorFunction& f) {
  const std::size_t n = low.size();
  std::vector<std::size_t> at(n);
  std::vector<double> x(n);
  double sum = 0, cell = 1;
  for (std::size_t i = 0; i < n; ++i) cell *= (high[i] - low[i]) / static_cast<double>(points);
  for (std::size_t i = 0; i < n;) {
    for (std::size_t k = 0; k < n; ++k) {
      x[k] = low[k] +
             (high[k] - low[k]) * (static_cast<double>(at[k]) + 0.5) / static_cast<double>(points);
    }
    sum += f(Value(x));
    for (i = 0; i < n && ++at[i] == points; ++i) at[i] = 0;
  }
  return sum * cell;
}

// Over all but one component of the vectors of n shares of one, a stick broken off after the other.
inline double integrate_simplex(std::size_t n, std::size_t points, const VectorFunction& f) {
  struct Point {
    double x, rest, weight;  // x + rest = 1, both to full precision
  };
  constexpr double kReach = 3.7;  // an end is approached to 1e-27
  std::vector<Point> rule;
  for (std::size_t i = 0; i <= points; ++i) {
    const double t = -kReach + 2 * kReach * static_cast<double>(i) / static_cast<double>(points);
    const double e = M_PI_2 * std::sinh(t), slope = M_PI_2 * std::cosh(t);
    rule.push_back(
        {1 / (1 + std::exp(-2 * e)), 1 / (1 + std::exp(2 * e)),
         slope / (2 * std::cosh(e) * std::cosh(e)) * 2 * kReach / static_cast<double>(points)});
  }
  std::vector<double> x(n);
  const std::function<double(std::size_t, double)> integrate = [&](std::size_t i, double left) {
    double sum = 0;
    if (i + 1 == n) {
      x[i] = left;
      return f(Value(x));
    }
    for (const Point& point : rule) {
      x[i] = left * point.x;
      sum += integrate(i + 1, left * point.rest) * left * point.weight;
    }
    return sum;
  };
  return integrate(0, 1);
}

// Over the support of a distribution of vectors: of real ones as far as `reach` standard
// deviations.
inline double integrate_vectors(const Distribution& d, std::size_t points, double reach,
                                const VectorFunction& f) {
  if (d.on_simplex()) return integrate_simplex(d.size(), points, f);
  std::vector<double> low, high;
  for (std::size_t i = 0; i < d.size(); ++i) {
    const double sd = std::sqrt(d.variance()[i]);
    low.push_back(d.mean()[i] - reach * sd);
    high.push_back(d.mean()[i] + reach * sd);
  }
  return integrate_box(low, high, points, f);
}

}  // namespace psn
