#include "experiments/zoo/tools/truncated.h"

#include <algorithm>
#include <cmath>

#include "psn/base/numerics.h"

namespace psn::zoo {

Truncated truncated_normal(double mean, double sd, double low, double high) {
  const double a = (low - mean) / sd, b = (high - mean) / sd;
  const double log_mass = log_normal_interval(a, b);
  const auto at_end = [&](double z) { return std::exp(-0.5 * z * z - kLogSqrt2Pi - log_mass); };
  const double shift = at_end(a) - at_end(b);
  const double shrink = a * at_end(a) - b * at_end(b);
  return {log_mass, std::clamp(mean + sd * shift, low, high),
          std::max(0.0, sd * sd * (1 + shrink - shift * shift))};
}

double draw_truncated_normal(double mean, double sd, double low, double high, Rng& rng) {
  const double from = normal_cdf((low - mean) / sd), to = normal_cdf((high - mean) / sd);
  return mean + sd * normal_quantile(from + (to - from) * rng.uniform());
}

}  // namespace psn::zoo
