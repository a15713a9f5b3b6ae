#include "psn/infer/random_walk.h"

#include <cmath>

#include "psn/base/numerics.h"
#include "psn/core/free_coordinates.h"

namespace psn {
namespace {

double reflect(double x, const Support& support) {
  const bool below = std::isfinite(support.low);
  const bool above = std::isfinite(support.high);
  if (below && above) {
    const double width = support.high - support.low;
    double offset = std::fmod(std::abs(x - support.low), 2 * width);
    if (offset > width) offset = 2 * width - offset;
    return support.low + offset;
  }
  if (below) return support.low + std::abs(x - support.low);
  if (above) return support.high - std::abs(x - support.high);
  return x;
}

// The walk is symmetric in the coordinates; as a density over values each end has its own volume.
WalkStep walk_freely(const Distribution& distribution, FreeCoordinates from, double step,
                     Rng& rng) {
  for (double& u : from.u) u += step * rng.normal();
  Value to = value_at(distribution, from.u);
  const double log_volume = free_coordinates(distribution, to)->log_volume;
  return {std::move(to), log_volume - from.log_volume};
}

}  // namespace

std::optional<WalkStep> random_walk(const Distribution& distribution, const Value& from,
                                    double step, Rng& rng) {
  if (distribution.discrete()) return std::nullopt;
  step /= std::sqrt(static_cast<double>(from.size()));
  if (auto free = free_coordinates(distribution, from)) {
    return walk_freely(distribution, *std::move(free), step, rng);
  }
  if (distribution.on_simplex()) return std::nullopt;  // a mixture: it has no coordinates
  const Value variance = distribution.variance();
  std::vector<double> to(from.size());
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (!(variance[i] > 0) || !std::isfinite(variance[i])) return std::nullopt;
    to[i] =
        reflect(from[i] + step * std::sqrt(variance[i]) * rng.normal(), distribution.support(i));
  }
  return WalkStep{Value(std::move(to), from.shape()), 0};
}

}  // namespace psn
