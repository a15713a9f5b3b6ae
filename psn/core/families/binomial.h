#pragma once

#include "psn/core/families/bernoulli.h"

namespace psn {
namespace family {

struct Binomial {
  static constexpr std::string_view kName = "Binomial";
  static constexpr std::uint8_t kId = 9;
  static constexpr Domain kDomain = Domain::kInteger;
  static constexpr std::array<Parameter, 2> kParameters{
      {{"total_count", Link::kGiven, Role::kHigh}, {"probs", Link::kProbability, Role::kShape}}};
  using P = Parameters<2>;
  static const char* problem(const P& p) {
    if (!(p[0] >= 0 && p[0] == std::floor(p[0]) && p[0] < 0x1p53)) {
      return "total_count must be a whole number";
    }
    return p[1] >= 0 && p[1] <= 1 ? nullptr : "probs must lie in [0, 1]";
  }
  static double draw(const P& p, Rng& rng);
  static double log_prob(const P& p, double x) {
    if (x < 0 || x > p[0] || x != std::floor(x)) return -kInfinity;
    const double rest = p[0] - x;
    if (x == 0) return rest == 0 ? 0 : rest * std::log1p(-p[1]);
    if (rest == 0) return x * std::log(p[1]);
    if (p[1] == 0 || p[1] == 1) return -kInfinity;
    return stirling_error(p[0]) - stirling_error(x) - stirling_error(rest) -
           deviance(x, p[0] * p[1]) - deviance(rest, p[0] * (1 - p[1])) - kLogSqrt2Pi +
           0.5 * (std::log(p[0]) - std::log(x) - std::log(rest));
  }
  static double mean(const P& p) { return p[0] * p[1]; }
  static double variance(const P& p) { return p[0] * p[1] * (1 - p[1]); }
  static Support support(const P& p) { return {0, p[0], true}; }
  static std::optional<double> kl(const P& p, const P& q) {
    if (p[0] == 0 || p[1] == 0) return -log_prob(q, 0);  // all mass on zero
    if (p[0] != q[0]) return p[0] > q[0] ? std::optional(kInfinity) : std::nullopt;
    return p[0] * *Bernoulli::kl({p[1]}, {q[1]});
  }
};

}  // namespace family

using Binomial = Independent<family::Binomial>;  // total_count, probs

}  // namespace psn
