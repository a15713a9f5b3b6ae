#pragma once

#include "psn/core/families/normal.h"

namespace psn {
namespace family {

// Normal(mean, stddev) restricted to [low, high]; mean and stddev are those before truncation.
struct TruncatedNormal {
  static constexpr std::string_view kName = "TruncatedNormal";
  static constexpr std::uint8_t kId = 11;
  static constexpr Domain kDomain = Domain::kInterval;
  static constexpr std::array<Parameter, 4> kParameters{{{"mean", Link::kReal, Role::kLocation},
                                                         {"stddev", Link::kPositive, Role::kScale},
                                                         {"low", Link::kGiven, Role::kLow},
                                                         {"high", Link::kGiven, Role::kHigh}}};
  using P = Parameters<4>;
  static const char* problem(const P& p) {
    if (const char* wrong = Normal::problem({p[0], p[1]})) return wrong;
    if (!(p[2] < p[3])) return "low must be less than high";
    // Beyond this not even logarithms tell the densities of values apart.
    constexpr double kFarthest = 1e100;
    return p[2] - p[0] < kFarthest * p[1] && p[0] - p[3] < kFarthest * p[1]
               ? nullptr
               : "low and high lie too far from mean";
  }
  static double draw(const P& p, Rng& rng);
  static double log_prob(const P& p, double x);
  static double mean(const P& p);
  static double variance(const P& p);
  static Support support(const P& p) { return {p[2], p[3]}; }
  static std::optional<double> kl(const P& p, const P& q);
};

}  // namespace family

using TruncatedNormal = Independent<family::TruncatedNormal>;  // mean, stddev, low, high

}  // namespace psn
