#pragma once

#include "psn/core/families/kernel.h"

namespace psn {
namespace family {

struct Normal {
  static constexpr std::string_view kName = "Normal";
  static constexpr std::uint8_t kId = 0;
  static constexpr Domain kDomain = Domain::kReal;
  static constexpr std::array<Parameter, 2> kParameters{
      {{"mean", Link::kReal, Role::kLocation}, {"stddev", Link::kPositive, Role::kScale}}};
  using P = Parameters<2>;
  static const char* problem(const P& p) {
    if (!std::isfinite(p[0])) return "mean must be finite";
    return p[1] > 0 && std::isfinite(p[1]) ? nullptr : "stddev must be positive and finite";
  }
  static double draw(const P& p, Rng& rng) { return p[0] + p[1] * rng.normal(); }
  static double log_prob(const P& p, double x) {
    const double z = (x - p[0]) / p[1];
    return -0.5 * z * z - std::log(p[1]) - kLogSqrt2Pi;
  }
  static double mean(const P& p) { return p[0]; }
  static double variance(const P& p) { return p[1] * p[1]; }
  static Support support(const P&) { return {}; }
  static std::optional<double> kl(const P& p, const P& q) {
    const double r = p[1] / q[1];
    const double z = (p[0] - q[0]) / q[1];
    return 0.5 * (r * r + z * z - 1) - std::log(r);
  }
};

}  // namespace family

using Normal = Independent<family::Normal>;  // mean, stddev

}  // namespace psn
