#pragma once

#include "psn/core/families/gamma.h"

namespace psn {
namespace family {

struct StudentT {
  static constexpr std::string_view kName = "StudentT";
  static constexpr std::uint8_t kId = 13;
  static constexpr Domain kDomain = Domain::kReal;
  static constexpr std::array<Parameter, 3> kParameters{{{"df", Link::kPositive, Role::kShape},
                                                         {"loc", Link::kReal, Role::kLocation},
                                                         {"scale", Link::kPositive, Role::kScale}}};
  using P = Parameters<3>;
  static const char* problem(const P& p) {
    if (!(p[0] > 0 && std::isfinite(p[0]))) return "df must be positive and finite";
    if (!std::isfinite(p[1])) return "loc must be finite";
    return p[2] > 0 && std::isfinite(p[2]) ? nullptr : "scale must be positive and finite";
  }
  static double draw(const P& p, Rng& rng) {
    const double z = rng.normal();
    const double half = 0.5 * p[0];
    const double stretch = std::exp(0.5 * (std::log(half) - draw_log_gamma(half, rng)));
    constexpr double kLargest = std::numeric_limits<double>::max();
    return std::clamp(p[1] + p[2] * z * stretch, -kLargest, kLargest);
  }
  static double log_prob(const P& p, double x) {
    return log_gamma(0.5 * (p[0] + 1)) - log_gamma(0.5 * p[0]) - 0.5 * std::log(p[0] * M_PI) -
           std::log(p[2]) - 0.5 * (p[0] + 1) * log_spread(p, x);
  }
  static P score(const P& p, double x) {
    const double z = (x - p[1]) / p[2];
    const double share = 1 / (1 + p[0] / z / z);  // z^2 / (df + z^2)
    const double pull = (p[0] + 1) * share;
    return {0.5 * (digamma(0.5 * (p[0] + 1)) - digamma(0.5 * p[0]) - (1 - pull) / p[0] -
                   log_spread(p, x)),
            z == 0 ? 0 : pull / z / p[2], (pull - 1) / p[2]};
  }
  static double mean(const P& p) { return p[0] > 1 ? p[1] : kNaN; }
  static double variance(const P& p) {
    if (p[0] > 2) return p[2] * p[2] * p[0] / (p[0] - 2);
    return p[0] > 1 ? kInfinity : kNaN;
  }
  static Support support(const P&) { return {}; }
  static std::optional<double> kl(const P&, const P&) { return std::nullopt; }

 private:
  // log(1 + z^2 / df), for any z.
  static double log_spread(const P& p, double x) {
    const double r = std::abs((x - p[1]) / p[2]) / std::sqrt(p[0]);
    return r > 1e8 ? 2 * std::log(r) : std::log1p(r * r);
  }
};

}  // namespace family

using StudentT = Independent<family::StudentT>;  // degrees of freedom, location, scale

}  // namespace psn
