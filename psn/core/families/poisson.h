#pragma once

#include "psn/core/families/kernel.h"

namespace psn {
namespace family {

struct Poisson {
  static constexpr std::string_view kName = "Poisson";
  static constexpr std::uint8_t kId = 3;
  static constexpr Domain kDomain = Domain::kInteger;
  static constexpr std::array<Parameter, 1> kParameters{{{"rate", Link::kPositive, Role::kSize}}};
  using P = Parameters<1>;
  static const char* problem(const P& p) {
    return p[0] > 0 && std::isfinite(p[0]) ? nullptr : "rate must be positive and finite";
  }
  static double draw(const P& p, Rng& rng);
  static double log_prob(const P& p, double x) {
    if (x < 0 || x != std::floor(x)) return -kInfinity;
    if (x == 0) return -p[0];
    return -stirling_error(x) - deviance(x, p[0]) - kLogSqrt2Pi - 0.5 * std::log(x);
  }
  static double mean(const P& p) { return p[0]; }
  static double variance(const P& p) { return p[0]; }
  static Support support(const P&) { return {0, kInfinity, true}; }
  static std::optional<double> kl(const P& p, const P& q) {
    return p[0] * std::log(p[0] / q[0]) - p[0] + q[0];
  }
};

}  // namespace family

using Poisson = Independent<family::Poisson>;  // rate

}  // namespace psn
