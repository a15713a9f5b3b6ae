#include "psn/core/families/beta.h"

namespace psn::family {

double draw_log_gamma(double shape, Rng& rng) {
  if (shape < 1) return draw_log_gamma(shape + 1, rng) + std::log(rng.uniform()) / shape;
  const double d = shape - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = rng.normal();
    const double t = 1 + c * x;
    if (t <= 0) continue;
    const double v = t * t * t;
    const double u = rng.uniform();
    const double x2 = x * x;
    if (u < 1 - 0.0331 * x2 * x2) return std::log(d * v);
    const double log_v = std::log(v);
    if (std::log(u) < 0.5 * x2 + d * (1 - v + log_v)) return std::log(d) + log_v;
  }
}

double Gamma::draw(const P& p, Rng& rng) {
  return inside_positive(std::exp(draw_log_gamma(p[0], rng)) / p[1]);
}

double Beta::draw(const P& p, Rng& rng) {
  const double log_x = draw_log_gamma(p[0], rng);
  const double log_y = draw_log_gamma(p[1], rng);
  return std::clamp(1 / (1 + std::exp(log_y - log_x)), std::numeric_limits<double>::min(),
                    1 - 0x1p-53);
}

}  // namespace psn::family
