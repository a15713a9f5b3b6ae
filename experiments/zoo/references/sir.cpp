// A grid over both rates; the equations are solved for logarithms, in smaller steps than the
// program's.
#include <cmath>

#include "experiments/zoo/references/references.h"
#include "experiments/zoo/tools/weighted_points.h"
#include "psn/core/distribution.h"

namespace psn::zoo::references {
namespace {

// Shares of the ill every seventeen days.
std::vector<double> shares_of_ill(double contact, double recovery, std::size_t tests) {
  constexpr int kSteps = 17 * 6;
  constexpr double h = 17.0 / kSteps;
  double s = std::log1p(-1e-6), i = std::log(1e-6);  // logarithms
  std::vector<double> result;
  for (std::size_t test = 0; test < tests; ++test) {
    result.push_back(std::exp(i));
    for (int step = 0; step < kSteps; ++step) {
      double ds[5] = {}, di[5] = {};
      constexpr double kAt[] = {0, 0.5, 0.5, 1};
      for (int k = 0; k < 4; ++k) {
        ds[k + 1] = -contact * std::exp(i + h * kAt[k] * di[k]);
        di[k + 1] = contact * std::exp(s + h * kAt[k] * ds[k]) - recovery;
      }
      s += h / 6 * (ds[1] + 2 * ds[2] + 2 * ds[3] + ds[4]);
      i += h / 6 * (di[1] + 2 * di[2] + 2 * di[3] + di[4]);
    }
  }
  return result;
}

Grid sir_posterior(Data ill) {
  const auto log_density = [&](std::span<const double> rates) {
    double sum = family::LogNormal::log_prob({std::log(0.4), 0.5}, rates[0]) +
                 family::LogNormal::log_prob({std::log(0.125), 0.2}, rates[1]);
    const auto shares = shares_of_ill(rates[0], rates[1], ill.size());
    for (std::size_t t = 0; t < ill.size(); ++t) {
      sum += family::Binomial::log_prob({1000, shares[t]}, ill[t]);
    }
    return sum;
  };
  return focused_grid({{0.05, 2, 80}, {0.04, 0.4, 80}}, log_density);
}

}  // namespace

Answer sir(Data ill) {
  return sir_posterior(ill).answer();
}

std::vector<double> draw_sir(Data ill, std::size_t rows, std::uint64_t seed) {
  Rng rng(seed);
  return sir_posterior(ill).draw(rows, rng);
}

}  // namespace psn::zoo::references
