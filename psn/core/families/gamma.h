#pragma once

#include "psn/core/families/kernel.h"

namespace psn {
namespace family {

// log of a Gamma(shape, 1) draw: Marsaglia and Tsang (2000); shapes below one by the boost
// G(a) = G(a + 1) U^(1/a), in logs so that tiny shapes do not underflow.
double draw_log_gamma(double shape, Rng& rng);

struct Gamma {
  static constexpr std::string_view kName = "Gamma";
  static constexpr std::uint8_t kId = 7;
  static constexpr Domain kDomain = Domain::kPositive;
  static constexpr std::array<Parameter, 2> kParameters{
      {{"concentration", Link::kPositive, Role::kShape}, {"rate", Link::kPositive, Role::kRate}}};
  using P = Parameters<2>;
  static const char* problem(const P& p) {
    return p[0] > 0 && p[1] > 0 && std::isfinite(p[0]) && std::isfinite(p[1])
               ? nullptr
               : "concentration and rate must be positive and finite";
  }
  static double draw(const P& p, Rng& rng);
  static double log_prob(const P& p, double x) {
    if (!(x >= 0)) return -kInfinity;
    return p[0] * std::log(p[1]) + x_log_y(p[0] - 1, x) - p[1] * x - log_gamma(p[0]);
  }
  static double mean(const P& p) { return p[0] / p[1]; }
  static double variance(const P& p) { return p[0] / (p[1] * p[1]); }
  static Support support(const P&) { return {0, kInfinity}; }
  static std::optional<double> kl(const P& p, const P& q) {
    return (p[0] - q[0]) * digamma(p[0]) - log_gamma(p[0]) + log_gamma(q[0]) +
           q[0] * std::log(p[1] / q[1]) + p[0] * (q[1] / p[1] - 1);
  }
};

}  // namespace family

using Gamma = Independent<family::Gamma>;  // concentration, rate

}  // namespace psn
