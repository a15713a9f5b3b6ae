#pragma once

#include "psn/core/families/gamma.h"
#include "psn/core/families/poisson.h"

namespace psn {
namespace family {

// Counts that vary more than Poisson's: their rate is Gamma(concentration, concentration / mean),
// so that their variance is mean + mean^2 / concentration.
struct NegativeBinomial {
  static constexpr std::string_view kName = "NegativeBinomial";
  static constexpr std::uint8_t kId = 14;
  static constexpr Domain kDomain = Domain::kInteger;
  static constexpr std::array<Parameter, 2> kParameters{
      {{"mean", Link::kPositive, Role::kSize}, {"concentration", Link::kPositive, Role::kShape}}};
  using P = Parameters<2>;
  static const char* problem(const P& p) {
    return p[0] > 0 && p[1] > 0 && std::isfinite(p[0]) && std::isfinite(p[1])
               ? nullptr
               : "mean and concentration must be positive and finite";
  }
  static double draw(const P& p, Rng& rng) {
    const double rate = p[0] / p[1] * std::exp(draw_log_gamma(p[1], rng));
    return Poisson::draw({inside_positive(rate)}, rng);
  }
  static double log_prob(const P& p, double x) {
    if (!(x >= 0) || x != std::floor(x)) return -kInfinity;
    const auto [mean, r] = p;
    if (x == 0) return -r * std::log1p(mean / r);
    // As a binomial probability of x among x + r, without cancellation for large counts.
    const double n = x + r;
    return stirling_error(n) - stirling_error(r) - stirling_error(x) -
           deviance(r, n * (r / (r + mean))) - deviance(x, n * (mean / (r + mean))) - kLogSqrt2Pi +
           0.5 * (std::log(r) - std::log(x) - std::log(n));
  }
  static P score(const P& p, double x) {
    const auto [mean, r] = p;
    const double ratio = (x + r) / (r + mean);
    return {x / mean - ratio, digamma(x + r) - digamma(r) - std::log1p(mean / r) + 1 - ratio};
  }
  static double mean(const P& p) { return p[0]; }
  static double variance(const P& p) { return p[0] + p[0] * p[0] / p[1]; }
  static Support support(const P&) { return {0, kInfinity, true}; }
  // For one concentration only.
  static std::optional<double> kl(const P& p, const P& q) {
    if (p[1] != q[1]) return std::nullopt;
    const double log_odds = std::log((p[1] + q[0]) / (p[1] + p[0]));
    return p[1] * log_odds + p[0] * (std::log(p[0] / q[0]) + log_odds);
  }
};

}  // namespace family

using NegativeBinomial = Independent<family::NegativeBinomial>;  // mean, concentration

}  // namespace psn
