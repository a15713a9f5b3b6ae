#pragma once

#include "psn/core/families/normal.h"

namespace psn {
namespace family {

struct LogNormal {
  static constexpr std::string_view kName = "LogNormal";
  static constexpr std::uint8_t kId = 8;
  static constexpr Domain kDomain = Domain::kPositive;
  static constexpr bool kLogarithmic = true;  // its location and scale are those of log x
  static constexpr std::array<Parameter, 2> kParameters{
      {{"loc", Link::kReal, Role::kLocation}, {"scale", Link::kPositive, Role::kScale}}};
  using P = Parameters<2>;
  static const char* problem(const P& p) {
    if (!std::isfinite(p[0])) return "loc must be finite";
    return p[1] > 0 && std::isfinite(p[1]) ? nullptr : "scale must be positive and finite";
  }
  static double draw(const P& p, Rng& rng) {
    return inside_positive(std::exp(p[0] + p[1] * rng.normal()));
  }
  static double log_prob(const P& p, double x) {
    return x > 0 ? Normal::log_prob(p, std::log(x)) - std::log(x) : -kInfinity;
  }
  static double mean(const P& p) { return std::exp(p[0] + 0.5 * p[1] * p[1]); }
  static double variance(const P& p) {
    const double s = p[1] * p[1];
    return std::exp(2 * p[0] + 2 * s + std::log1p(-std::exp(-s)));
  }
  static Support support(const P&) { return {0, kInfinity}; }
  static std::optional<double> kl(const P& p, const P& q) { return Normal::kl(p, q); }
};

}  // namespace family

using LogNormal = Independent<family::LogNormal>;  // mean and stddev of the logarithm

}  // namespace psn
