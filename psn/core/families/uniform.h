#pragma once

#include "psn/core/families/kernel.h"

namespace psn {
namespace family {

struct Uniform {
  static constexpr std::string_view kName = "Uniform";
  static constexpr std::uint8_t kId = 1;
  static constexpr Domain kDomain = Domain::kInterval;
  static constexpr std::array<Parameter, 2> kParameters{
      {{"low", Link::kGiven, Role::kLow}, {"high", Link::kGiven, Role::kHigh}}};
  using P = Parameters<2>;
  static const char* problem(const P& p) {
    if (!std::isfinite(p[0]) || !std::isfinite(p[1])) return "low and high must be finite";
    if (!std::isfinite(p[1] - p[0])) return "high - low must be finite";
    return p[0] < p[1] ? nullptr : "low must be less than high";
  }
  static double draw(const P& p, Rng& rng) { return p[0] + (p[1] - p[0]) * rng.uniform(); }
  static double log_prob(const P& p, double x) {
    return x >= p[0] && x <= p[1] ? -std::log(p[1] - p[0]) : -kInfinity;
  }
  static double mean(const P& p) { return 0.5 * (p[0] + p[1]); }
  static double variance(const P& p) { return (p[1] - p[0]) * (p[1] - p[0]) / 12; }
  static Support support(const P& p) { return {p[0], p[1]}; }
  static std::optional<double> kl(const P& p, const P& q) {
    if (p[0] < q[0] || p[1] > q[1]) return kInfinity;
    return std::log((q[1] - q[0]) / (p[1] - p[0]));
  }
};

}  // namespace family

using Uniform = Independent<family::Uniform>;  // low, high

}  // namespace psn
