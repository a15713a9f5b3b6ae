#pragma once

#include "psn/core/families/kernel.h"

namespace psn {
namespace family {

struct Laplace {
  static constexpr std::string_view kName = "Laplace";
  static constexpr std::uint8_t kId = 16;
  static constexpr Domain kDomain = Domain::kReal;
  static constexpr std::array<Parameter, 2> kParameters{
      {{"loc", Link::kReal, Role::kLocation}, {"scale", Link::kPositive, Role::kScale}}};
  using P = Parameters<2>;
  static const char* problem(const P& p) {
    if (!std::isfinite(p[0])) return "loc must be finite";
    return p[1] > 0 && std::isfinite(p[1]) ? nullptr : "scale must be positive and finite";
  }
  static double draw(const P& p, Rng& rng) {
    const double sign = rng.uniform() < 0.5 ? -1 : 1;
    return p[0] + sign * p[1] * rng.exponential();
  }
  static double log_prob(const P& p, double x) {
    return -std::abs(x - p[0]) / p[1] - std::log(2 * p[1]);
  }
  static P score(const P& p, double x) {
    const double z = (x - p[0]) / p[1];
    return {static_cast<double>((z > 0) - (z < 0)) / p[1], (std::abs(z) - 1) / p[1]};
  }
  static double mean(const P& p) { return p[0]; }
  static double variance(const P& p) { return 2 * p[1] * p[1]; }
  static Support support(const P&) { return {}; }
  static std::optional<double> kl(const P& p, const P& q) {
    return std::log(q[1] / p[1]) + distance(p, q) / q[1] - 1;
  }
  static P expected_score(const P& p, const P& q) {
    const double apart = p[0] - q[0];
    const double sign = std::copysign(-std::expm1(-std::abs(apart) / p[1]), apart);
    return {sign / q[1], (distance(p, q) / q[1] - 1) / q[1]};
  }

 private:
  // E_p |x - loc of q|.
  static double distance(const P& p, const P& q) {
    const double apart = std::abs(p[0] - q[0]);
    return apart + p[1] * std::exp(-apart / p[1]);
  }
};

}  // namespace family

using Laplace = Independent<family::Laplace>;  // location, scale

}  // namespace psn
