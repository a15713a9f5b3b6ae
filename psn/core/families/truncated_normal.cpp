#include "psn/core/families/truncated_normal.h"

namespace psn::family {
namespace {

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
