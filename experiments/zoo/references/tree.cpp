// The number of leaves of a tree is that of two smaller ones together, or 1: its law depth by
// depth, from the deepest, which is a leaf.
#include <cmath>

#include "experiments/zoo/references/references.h"
#include "experiments/zoo/tools/weighted_points.h"
#include "psn/base/numerics.h"
#include "psn/core/distribution.h"

namespace psn::zoo::references {
namespace {

constexpr Axis kVigour = {0, 1, 400};

std::vector<double> leaf_probabilities(double vigour, int depth) {
  if (depth == 0) return {0, 1};
  const std::vector<double> part = leaf_probabilities(vigour, depth - 1);
  std::vector<double> result(2 * part.size() - 1);
  for (std::size_t a = 0; a < part.size(); ++a) {
    for (std::size_t b = 0; b < part.size(); ++b) result[a + b] += vigour * part[a] * part[b];
  }
  result[1] += 1 - vigour;
  return result;
}

WeightedPoints tree_posterior(double harvest) {
  WeightedPoints result;
  each_cell({&kVigour, 1}, [&](std::span<const double> vigour) {
    const double prior = family::Beta::log_prob({3, 2}, vigour[0]) + std::log(kVigour.width());
    const std::vector<double> leaves = leaf_probabilities(vigour[0], 6);
    for (std::size_t n = 1; n < leaves.size(); ++n) {
      const auto count = static_cast<double>(n);
      const double sd = std::sqrt(0.09 * count + 0.25), point[] = {vigour[0], count};
      result.add(prior + std::log(leaves[n]) + family::Normal::log_prob({count, sd}, harvest),
                 point);
    }
  });
  return result;
}

}  // namespace

Answer tree(double harvest) {
  return tree_posterior(harvest).answer();
}

std::vector<double> draw_tree(double harvest, std::size_t rows, std::uint64_t seed) {
  Rng rng(seed);
  const WeightedPoints posterior = tree_posterior(harvest);
  std::vector<double> result;
  for (const std::size_t i : posterior.choose(rows, rng)) {
    result.push_back(posterior.point(i)[0] + kVigour.width() * (rng.uniform() - 0.5));
    result.push_back(posterior.point(i)[1]);
  }
  return result;
}

}  // namespace psn::zoo::references
