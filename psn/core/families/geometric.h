#pragma once

#include "psn/core/families/kernel.h"

namespace psn {
namespace family {

// The number of failures before the first success.
struct Geometric {
  static constexpr std::string_view kName = "Geometric";
  static constexpr std::uint8_t kId = 15;
  static constexpr Domain kDomain = Domain::kInteger;
  static constexpr std::array<Parameter, 1> kParameters{
      {{"probs", Link::kProbability, Role::kShape}}};
  using P = Parameters<1>;
  static const char* problem(const P& p) {
    return p[0] > 0 && p[0] <= 1 ? nullptr : "probs must lie in (0, 1]";
  }
  static double draw(const P& p, Rng& rng) {
    return std::floor(rng.exponential() / -std::log1p(-p[0]));
  }
  static double log_prob(const P& p, double x) {
    if (!(x >= 0) || x != std::floor(x)) return -kInfinity;
    return std::log(p[0]) + (x == 0 ? 0 : x * std::log1p(-p[0]));
  }
  static P score(const P& p, double x) {
    // At probs = 1 the link's slope is zero: anything finite will do.
    return {1 / p[0] - x / std::max(1 - p[0], std::numeric_limits<double>::epsilon())};
  }
  static double mean(const P& p) { return (1 - p[0]) / p[0]; }
  static double variance(const P& p) { return (1 - p[0]) / (p[0] * p[0]); }
  static Support support(const P& p) { return {0, p[0] < 1 ? kInfinity : 0, true}; }
  static std::optional<double> kl(const P& p, const P& q) {
    return std::log(p[0] / q[0]) + x_log_y(1 - p[0], (1 - p[0]) / (1 - q[0])) / p[0];
  }
  static P expected_score(const P& p, const P& q) { return score(q, mean(p)); }
};

}  // namespace family

using Geometric = Independent<family::Geometric>;  // probability of success

}  // namespace psn
