#include <cmath>

#include "experiments/zoo/references/references.h"

namespace psn::zoo::references {
namespace {

// In the coordinates u = (theta_0 + theta_1) / sqrt 2, v = (theta_1 - theta_0) / sqrt 2 the program
// is a translation, folded at u = 0.
constexpr double kCentre = 0.25, kRadius = 0.1, kNoise = 0.01;

}  // namespace

Answer crescents(Data x) {
  const double offset = kCentre - x[0];  // |u| = offset + radius cos(angle) + noise
  const double u_square =
      offset * offset + 2 * offset * kRadius * 2 / M_PI + kRadius * kRadius / 2 + kNoise * kNoise;
  const double v_variance = kRadius * kRadius / 2 + kNoise * kNoise;
  Answer result;
  result.mean = {-x[1] * M_SQRT1_2, x[1] * M_SQRT1_2};  // u is as often negative as positive
  result.sd.assign(2, std::sqrt((u_square + v_variance) / 2));
  result.log_evidence = std::log(0.5);  // two crescents, each a density, times the prior's 1 / 4
  return result;
}

std::vector<double> draw_crescents(Data x, std::size_t rows, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<double> result;
  while (result.size() < 2 * rows) {
    const double angle = M_PI * (rng.uniform() - 0.5);
    const double fold = kCentre - x[0] + kRadius * std::cos(angle) + kNoise * rng.normal();
    const double u = rng.below(2) == 0 ? fold : -fold;
    const double v = x[1] - kRadius * std::sin(angle) + kNoise * rng.normal();
    const double a = (u - v) * M_SQRT1_2, b = (u + v) * M_SQRT1_2;
    if (fold > 0 && std::abs(a) < 1 && std::abs(b) < 1) result.insert(result.end(), {a, b});
  }
  return result;
}

}  // namespace psn::zoo::references
