#include "psn/infer/estimates.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "psn/base/error.h"
#include "psn/base/numerics.h"
#include "psn/infer/diagnostics.h"

namespace psn {
namespace {

double chain_standard_error(const std::vector<double>& influence, std::size_t chains) {
  Sum squares;  // around zero, which is their mean
  for (const double h : influence) squares.add(h * h);
  const double variance = squares.value() / static_cast<double>(influence.size());
  return std::sqrt(variance / chain_effective_sample_size({influence, chains}));
}

}  // namespace

double mean_standard_error(const Posterior& posterior, std::string_view name,
                           std::size_t component) {
  const double probability = posterior.probability(name, component);
  if (!(probability > 0)) return kNaN;
  const double mean = posterior.mean(name, component);
  const std::vector<double> weights = posterior.weights();
  const Column& column = posterior.column(name);
  std::vector<double> influence(weights.size());
  Sum squares;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double x = column.data[i * column.width() + component];
    if (weights[i] == 0 || std::isnan(x)) continue;
    influence[i] = (x - mean) / probability;
    squares.add(weights[i] * influence[i] * weights[i] * influence[i]);
  }
  return posterior.chains() > 0 ? chain_standard_error(influence, posterior.chains())
                                : std::sqrt(squares.value());
}

Interval highest_density_interval(const Posterior& posterior, std::string_view name, double mass,
                                  std::size_t component) {
  if (!(mass > 0 && mass <= 1)) {
    throw InvalidArgument(fmt::format("an interval's mass is above 0 and at most 1, not {}", mass));
  }
  const std::vector<double> weights = posterior.weights();
  const Column& column = posterior.column(name);
  std::vector<std::pair<double, double>> points;  // value, weight
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double x = column.data[i * column.width() + component];
    if (weights[i] > 0 && !std::isnan(x)) points.emplace_back(x, weights[i]);
  }
  if (points.empty()) return {kNaN, kNaN};
  std::sort(points.begin(), points.end());
  std::vector<double> before{0};  // the weight of all that are lower
  for (const auto& [x, weight] : points) before.push_back(before.back() + weight);
  // Rounding must not ask for one sample more.
  const double wanted = mass * before.back() * (1 - 1e-12);
  Interval narrowest{points.front().first, points.back().first};
  for (std::size_t first = 0, last = 0; first < points.size(); ++first) {
    while (last < points.size() && before[last + 1] - before[first] < wanted) ++last;
    if (last == points.size()) break;
    const Interval candidate{points[first].first, points[last].first};
    if (candidate.high - candidate.low < narrowest.high - narrowest.low) narrowest = candidate;
  }
  return narrowest;
}

}  // namespace psn
