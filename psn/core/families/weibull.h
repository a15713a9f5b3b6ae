#pragma once

#include "psn/core/families/kernel.h"

namespace psn {
namespace family {

struct Weibull {
  static constexpr std::string_view kName = "Weibull";
  static constexpr std::uint8_t kId = 10;
  static constexpr Domain kDomain = Domain::kPositive;
  static constexpr std::array<Parameter, 2> kParameters{
      {{"scale", Link::kPositive, Role::kSize}, {"concentration", Link::kPositive, Role::kShape}}};
  using P = Parameters<2>;
  static const char* problem(const P& p) {
    return p[0] > 0 && p[1] > 0 && std::isfinite(p[0]) && std::isfinite(p[1])
               ? nullptr
               : "scale and concentration must be positive and finite";
  }
  static double draw(const P& p, Rng& rng) {
    return inside_positive(p[0] * std::pow(rng.exponential(), 1 / p[1]));
  }
  static double log_prob(const P& p, double x) {
    if (!(x >= 0)) return -kInfinity;
    return std::log(p[1]) - std::log(p[0]) + x_log_y(p[1] - 1, x / p[0]) - std::pow(x / p[0], p[1]);
  }
  static double mean(const P& p) { return p[0] * std::exp(log_gamma(1 + 1 / p[1])); }
  static double variance(const P& p) {
    if (p[1] > 1e4) return p[0] * p[0] * M_PI * M_PI / (6 * p[1] * p[1]);  // it would cancel
    const double m = mean(p);
    return m * m * std::expm1(log_gamma(1 + 2 / p[1]) - 2 * log_gamma(1 + 1 / p[1]));
  }
  static Support support(const P&) { return {0, kInfinity}; }
  static std::optional<double> kl(const P& p, const P& q) {
    constexpr double kEulerGamma = 0.57721566490153286061;
    return std::log(p[1]) - p[1] * std::log(p[0]) - std::log(q[1]) + q[1] * std::log(q[0]) +
           (p[1] - q[1]) * (std::log(p[0]) - kEulerGamma / p[1]) +
           std::exp(q[1] * std::log(p[0] / q[0]) + log_gamma(q[1] / p[1] + 1)) - 1;
  }
};

}  // namespace family

using Weibull = Independent<family::Weibull>;  // scale, concentration

}  // namespace psn
