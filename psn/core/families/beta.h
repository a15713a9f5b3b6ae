#pragma once

#include "psn/core/families/gamma.h"

namespace psn {
namespace family {

struct Beta {
  static constexpr std::string_view kName = "Beta";
  static constexpr std::uint8_t kId = 5;
  static constexpr Domain kDomain = Domain::kInterval;
  static constexpr std::array<Parameter, 2> kParameters{
      {{"concentration1", Link::kPositive, Role::kShape},
       {"concentration0", Link::kPositive, Role::kShape}}};
  using P = Parameters<2>;
  static const char* problem(const P& p) {
    return p[0] > 0 && p[1] > 0 && std::isfinite(p[0] + p[1])
               ? nullptr
               : "concentrations must be positive and finite";
  }
  static double draw(const P& p, Rng& rng);
  static double log_prob(const P& p, double x) {
    if (!(x >= 0 && x <= 1)) return -kInfinity;
    return x_log_y(p[0] - 1, x) + x_log_y(p[1] - 1, 1 - x) - log_beta(p[0], p[1]);
  }
  static double mean(const P& p) { return p[0] / (p[0] + p[1]); }
  static double variance(const P& p) {
    const double s = p[0] + p[1];
    return p[0] * p[1] / (s * s * (s + 1));
  }
  static Support support(const P&) { return {0, 1}; }
  static std::optional<double> kl(const P& p, const P& q) {
    return log_beta(q[0], q[1]) - log_beta(p[0], p[1]) + (p[0] - q[0]) * digamma(p[0]) +
           (p[1] - q[1]) * digamma(p[1]) + (q[0] - p[0] + q[1] - p[1]) * digamma(p[0] + p[1]);
  }
};

}  // namespace family

using Beta = Independent<family::Beta>;  // concentration1, concentration0

}  // namespace psn
