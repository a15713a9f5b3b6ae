#pragma once

#include "psn/core/families/kernel.h"

namespace psn {
namespace family {

struct Bernoulli {
  static constexpr std::string_view kName = "Bernoulli";
  static constexpr std::uint8_t kId = 4;
  static constexpr Domain kDomain = Domain::kCategory;
  static constexpr std::array<Parameter, 1> kParameters{
      {{"probs", Link::kProbability, Role::kShape}}};
  using P = Parameters<1>;
  static const char* problem(const P& p) {
    return p[0] >= 0 && p[0] <= 1 ? nullptr : "probs must lie in [0, 1]";
  }
  static double draw(const P& p, Rng& rng) { return rng.uniform() < p[0] ? 1 : 0; }
  static double log_prob(const P& p, double x) {
    if (x == 1) return std::log(p[0]);
    return x == 0 ? std::log1p(-p[0]) : -kInfinity;
  }
  static double mean(const P& p) { return p[0]; }
  static double variance(const P& p) { return p[0] * (1 - p[0]); }
  static Support support(const P&) { return {0, 1, true}; }
  static std::optional<double> kl(const P& p, const P& q) {
    return x_log_y(p[0], p[0] / q[0]) + x_log_y(1 - p[0], (1 - p[0]) / (1 - q[0]));
  }
};

}  // namespace family

using Bernoulli = Independent<family::Bernoulli>;  // probability of 1

}  // namespace psn
