#include "psn/core/family.h"

#include <algorithm>

namespace psn::family {
namespace {

// log of a Gamma(shape, 1) draw: Marsaglia and Tsang (2000); shapes below one by the boost
// G(a) = G(a + 1) U^(1/a), in logs so that tiny shapes do not underflow.
double draw_log_gamma(double shape, Rng& rng) {
  if (shape < 1) return draw_log_gamma(shape + 1, rng) + std::log(rng.uniform()) / shape;
  const double d = shape - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = rng.normal();
    const double t = 1 + c * x;
    if (t <= 0) continue;
    const double v = t * t * t;
    const double u = rng.uniform();
    const double x2 = x * x;
    if (u < 1 - 0.0331 * x2 * x2) return std::log(d * v);
    const double log_v = std::log(v);
    if (std::log(u) < 0.5 * x2 + d * (1 - v + log_v)) return std::log(d) + log_v;
  }
}

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

// Of the standard normal truncated to [a, b].
struct TruncatedMoments {
  double mean, variance;
};

// Far in the lower tail, below b: x = b - y with density exp(-t y - y^2 / 2), t = -b, integrated by
// Simpson's rule in s = t y. The closed form would subtract numbers of size b^2.
TruncatedMoments tail_moments(double b, double width) {
  const double t = -b;
  constexpr int kIntervals = 2000;
  const double end = std::min(width * t, 45.0);
  double total = 0, first = 0, second = 0;
  for (int i = 0; i <= kIntervals; ++i) {
    const double s = end * i / kIntervals;
    const double weight = (i == 0 || i == kIntervals ? 1
                           : i % 2 == 1              ? 4
                                                     : 2) *
                          std::exp(-s - 0.5 * (s / t) * (s / t));
    total += weight;
    first += weight * s;
    second += weight * s * s;
  }
  const double mean = first / total;
  return {b - mean / t, (second / total - mean * mean) / (t * t)};
}

TruncatedMoments truncated_moments(double a, double b) {
  if (a > 0) {
    const auto mirrored = truncated_moments(-b, -a);
    return {-mirrored.mean, mirrored.variance};
  }
  const double width = b - a;
  const double middle = 0.5 * (a + b);
  if (width * std::max(1.0, std::abs(middle)) < 1e-3) {
    // Nearly uniform: the exact form would subtract numbers of size 1 / width.
    return {middle * (1 - width * width / 12), width * width / 12};
  }
  if (b < -10) return tail_moments(b, width);
  const double log_z = log_normal_interval(a, b);
  const auto density = [&](double x) {
    return std::isfinite(x) ? std::exp(-0.5 * x * x - kLogSqrt2Pi - log_z) : 0.0;
  };
  const double pa = density(a);
  const double pb = density(b);
  const double mean = pa - pb;
  const double second = 1 + (std::isfinite(a) ? a * pa : 0) - (std::isfinite(b) ? b * pb : 0);
  return {mean, std::max(0.0, second - mean * mean)};
}

}  // namespace

double Gamma::draw(const P& p, Rng& rng) {
  return inside_positive(std::exp(draw_log_gamma(p[0], rng)) / p[1]);
}

double Beta::draw(const P& p, Rng& rng) {
  const double log_x = draw_log_gamma(p[0], rng);
  const double log_y = draw_log_gamma(p[1], rng);
  return std::clamp(1 / (1 + std::exp(log_y - log_x)), std::numeric_limits<double>::min(),
                    1 - 0x1p-53);
}

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

double TruncatedNormal::draw(const P& p, Rng& rng) {
  double a = (p[2] - p[0]) / p[1];
  double b = (p[3] - p[0]) / p[1];
  const bool mirrored = a > 0;
  if (mirrored) {
    std::swap(a, b);
    a = -a;
    b = -b;
  }
  double z = 0;
  if ((b - a) * std::max(1.0, std::abs(b)) < 1e-4) {
    return p[2] + (p[3] - p[2]) * rng.uniform();  // the density is flat there
  }
  if (b < -5) {
    // Robert (1995): exponential proposals beyond b, in the far tail where inversion loses digits.
    const double t = -b;
    const double rate = 0.5 * (t + std::hypot(t, 2));
    const double width = b - a;
    for (;;) {
      const double log_tail = std::isfinite(width) ? std::expm1(-rate * width) : -1;
      const double y = -std::log1p(rng.uniform() * log_tail) / rate;
      const double excess = t + y - rate;
      if (rng.uniform() <= std::exp(-0.5 * excess * excess)) {
        z = b - y;
        break;
      }
    }
  } else {
    const double low = normal_cdf(a);
    z = normal_quantile(low + (normal_cdf(b) - low) * rng.uniform());
  }
  return std::clamp(p[0] + p[1] * (mirrored ? -z : z), p[2], p[3]);
}

double TruncatedNormal::log_prob(const P& p, double x) {
  if (!(x >= p[2] && x <= p[3])) return -kInfinity;
  return Normal::log_prob({p[0], p[1]}, x) -
         log_normal_interval((p[2] - p[0]) / p[1], (p[3] - p[0]) / p[1]);
}

double TruncatedNormal::mean(const P& p) {
  return p[0] + p[1] * truncated_moments((p[2] - p[0]) / p[1], (p[3] - p[0]) / p[1]).mean;
}

double TruncatedNormal::variance(const P& p) {
  return p[1] * p[1] * truncated_moments((p[2] - p[0]) / p[1], (p[3] - p[0]) / p[1]).variance;
}

std::optional<double> TruncatedNormal::kl(const P& p, const P& q) {
  if (p[2] < q[2] || p[3] > q[3]) return kInfinity;
  // E_p[log p - log q] needs only the first two moments of p.
  const double m = mean(p);
  const double v = variance(p);
  const auto expected_log = [&](const P& r) {
    const double z = (m - r[0]) / r[1];
    return -0.5 * (z * z + v / (r[1] * r[1])) - std::log(r[1]) - kLogSqrt2Pi -
           log_normal_interval((r[2] - r[0]) / r[1], (r[3] - r[0]) / r[1]);
  };
  return expected_log(p) - expected_log(q);
}

}  // namespace psn::family
