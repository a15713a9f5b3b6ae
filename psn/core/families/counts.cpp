// How counts are drawn.
#include "psn/core/families/binomial.h"
#include "psn/core/families/poisson.h"

namespace psn::family {
namespace {

// Counts down the distribution function from zero: for small means.
template <class NextRatio>
double draw_by_inversion(double probability_of_zero, double limit, Rng& rng, NextRatio ratio) {
  double u = rng.uniform();
  double probability = probability_of_zero;
  double k = 0;
  while (u > probability && k < limit) {
    u -= probability;
    k += 1;
    probability *= ratio(k);
    if (probability == 0) break;  // beyond what double precision can tell apart
  }
  return k;
}

}  // namespace

double Poisson::draw(const P& p, Rng& rng) {
  const double rate = p[0];
  if (rate < 10) {
    return draw_by_inversion(std::exp(-rate), kInfinity, rng, [&](double k) { return rate / k; });
  }
  // Hoermann (1993), transformed rejection PTRS.
  const double b = 0.931 + 2.53 * std::sqrt(rate);
  const double a = -0.059 + 0.02483 * b;
  const double log_rate = std::log(rate);
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
  const double v_r = 0.9277 - 3.6224 / (b - 2);
  for (;;) {
    const double u = rng.uniform() - 0.5;
    const double v = rng.uniform();
    const double us = 0.5 - std::abs(u);
    const double k = std::floor((2 * a / us + b) * u + rate + 0.43);
    if (us >= 0.07 && v <= v_r) return k;
    if (k < 0 || (us < 0.013 && v > us)) continue;
    if (std::log(v * inverse_alpha / (a / (us * us) + b)) <=
        k * log_rate - rate - log_gamma(k + 1)) {
      return k;
    }
  }
}

double Binomial::draw(const P& p, Rng& rng) {
  const double n = p[0];
  if (p[1] > 0.5) return n - draw({n, 1 - p[1]}, rng);
  const double prob = p[1];
  if (prob == 0 || n == 0) return 0;
  const double odds = prob / (1 - prob);
  if (n * prob < 10) {
    return draw_by_inversion(std::exp(n * std::log1p(-prob)), n, rng,
                             [&](double k) { return odds * (n - k + 1) / k; });
  }
  // Hoermann (1993), transformed rejection BTRS.
  const double spread = std::sqrt(n * prob * (1 - prob));
  const double b = 1.15 + 2.53 * spread;
  const double a = -0.0873 + 0.0248 * b + 0.01 * prob;
  const double alpha = (2.83 + 5.1 / b) * spread;
  const double v_r = 0.92 - 4.2 / b;
  const double mode = std::floor((n + 1) * prob);
  const double log_odds = std::log(odds);
  const double at_mode = log_gamma(mode + 1) + log_gamma(n - mode + 1);
  for (;;) {
    const double u = rng.uniform() - 0.5;
    const double v = rng.uniform();
    const double us = 0.5 - std::abs(u);
    const double k = std::floor((2 * a / us + b) * u + n * prob + 0.5);
    if (us >= 0.07 && v <= v_r) return k;
    if (k < 0 || k > n) continue;
    const double log_ratio =
        (k - mode) * log_odds + at_mode - log_gamma(k + 1) - log_gamma(n - k + 1);
    if (std::log(v * alpha / (a / (us * us) + b)) <= log_ratio) return k;
  }
}

}  // namespace psn::family
