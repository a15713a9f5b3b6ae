#include <cmath>

#include "experiments/zoo/references/references.h"
#include "experiments/zoo/tools/truncated.h"
#include "experiments/zoo/tools/weighted_points.h"

namespace psn::zoo::references {
namespace {

constexpr double kEnd = 10;
constexpr double kScales[] = {1, 0.1};

}  // namespace

// Each of the two is a normal around the point that was seen, between the prior's ends.
Answer two_scales(Data x) {
  WeightedPoints posterior;
  for (const double scale : kScales) {
    const Truncated a = truncated_normal(x[0], scale, -kEnd, kEnd);
    const Truncated b = truncated_normal(x[1], scale, -kEnd, kEnd);
    const double mean[] = {a.mean, b.mean}, variance[] = {a.variance, b.variance};
    posterior.add(std::log(0.5 / (4 * kEnd * kEnd)) + a.log_mass + b.log_mass, mean, variance);
  }
  return posterior.answer();
}

std::vector<double> draw_two_scales(Data x, std::size_t rows, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<double> result;
  while (result.size() < 2 * rows) {
    const double scale = kScales[rng.below(2)];
    const double a = x[0] + scale * rng.normal(), b = x[1] + scale * rng.normal();
    if (std::abs(a) < kEnd && std::abs(b) < kEnd) result.insert(result.end(), {a, b});
  }
  return result;
}

}  // namespace psn::zoo::references
