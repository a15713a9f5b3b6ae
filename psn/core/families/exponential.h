#pragma once

#include "psn/core/families/kernel.h"

namespace psn {
namespace family {

struct Exponential {
  static constexpr std::string_view kName = "Exponential";
  static constexpr std::uint8_t kId = 6;
  static constexpr Domain kDomain = Domain::kPositive;
  static constexpr std::array<Parameter, 1> kParameters{{{"rate", Link::kPositive, Role::kRate}}};
  using P = Parameters<1>;
  static const char* problem(const P& p) {
    return p[0] > 0 && std::isfinite(p[0]) ? nullptr : "rate must be positive and finite";
  }
  static double draw(const P& p, Rng& rng) { return rng.exponential() / p[0]; }
  static double log_prob(const P& p, double x) {
    return x >= 0 ? std::log(p[0]) - p[0] * x : -kInfinity;
  }
  static double mean(const P& p) { return 1 / p[0]; }
  static double variance(const P& p) { return 1 / (p[0] * p[0]); }
  static Support support(const P&) { return {0, kInfinity}; }
  static std::optional<double> kl(const P& p, const P& q) {
    return std::log(p[0] / q[0]) + q[0] / p[0] - 1;
  }
};

}  // namespace family

using Exponential = Independent<family::Exponential>;  // rate

}  // namespace psn
