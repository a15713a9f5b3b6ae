#include "psn/base/numerics.h"

#include <math.h>  // lgamma_r

#include <algorithm>
#include <cmath>

namespace psn {

double log_gamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

double log_beta(double a, double b) {
  return log_gamma(a) + log_gamma(b) - log_gamma(a + b);
}

double digamma(double x) {
  double shift = 0;
  for (; x < 10; x += 1) shift -= 1 / x;
  const double y = 1 / (x * x);
  // The asymptotic series with Bernoulli numbers; below 1e-15 from x = 10 on.
  const double series =
      y * (1.0 / 12 - y * (1.0 / 120 -
                           y * (1.0 / 252 -
                                y * (1.0 / 240 - y * (1.0 / 132 - y * (691.0 / 32760 - y / 12))))));
  return shift + std::log(x) - 0.5 / x - series;
}

double trigamma(double x) {
  double shift = 0;
  for (; x < 10; x += 1) shift += 1 / (x * x);
  const double y = 1 / (x * x);
  // The derivative of the series above; below 1e-14 of the value from x = 10 on.
  const double series =
      y * (1.0 / 6 -
           y * (1.0 / 30 - y * (1.0 / 42 - y * (1.0 / 30 - y * (5.0 / 66 - y * (691.0 / 2730))))));
  return shift + (1 + 0.5 / x + series) / x;
}

double normal_cdf(double x) {
  return 0.5 * std::erfc(-x * M_SQRT1_2);
}

double log_normal_cdf(double x) {
  if (x > 5) return std::log1p(-0.5 * std::erfc(x * M_SQRT1_2));
  if (x > -37) return std::log(0.5 * std::erfc(-x * M_SQRT1_2));
  const double y = 1 / (x * x);
  return -0.5 * x * x - std::log(-x) - kLogSqrt2Pi + std::log1p(-y * (1 - y * (3 - y * 15)));
}

double log_normal_interval(double low, double high) {
  const double width = high - low;
  const double middle = 0.5 * (low + high);
  if (width * std::max(1.0, std::abs(middle)) < 1e-4) {
    // The density is constant over it, to 1e-9; differences of tails would cancel.
    return std::log(width) - 0.5 * middle * middle - kLogSqrt2Pi;
  }
  if (low > 0) return log_normal_interval(-high, -low);
  if (high <= 0) {  // both in the lower tail
    const double log_high = log_normal_cdf(high);
    return log_high + std::log1p(-std::exp(log_normal_cdf(low) - log_high));
  }
  return std::log1p(-normal_cdf(low) - normal_cdf(-high));
}

double log_sum_exp(std::span<const double> values) {
  if (values.empty()) return -kInfinity;
  const double largest = *std::max_element(values.begin(), values.end());
  if (!std::isfinite(largest)) return largest;
  Sum sum;
  for (double value : values) sum.add(std::exp(value - largest));
  return largest + std::log(sum.value());
}

double log_add_exp(double a, double b) {
  if (a < b) std::swap(a, b);
  return b == -kInfinity ? a : a + std::log1p(std::exp(b - a));
}

double stirling_error(double n) {
  if (n <= 15) return log_gamma(n + 1) - (n + 0.5) * std::log(n) + n - kLogSqrt2Pi;
  const double y = 1 / (n * n);
  return (1.0 / 12 - y * (1.0 / 360 - y * (1.0 / 1260 - y * (1.0 / 1680 - y / 1188)))) / n;
}

double deviance(double x, double m) {
  if (std::abs(x - m) < 0.1 * (x + m)) {
    // Series in (x - m) / (x + m).
    const double v = (x - m) / (x + m);
    double sum = (x - m) * v;
    double term = 2 * x * v;
    for (int j = 1; j < 1000; ++j) {
      term *= v * v;
      const double next = sum + term / (2 * j + 1);
      if (next == sum) return next;
      sum = next;
    }
  }
  return x_log_y(x, x / m) + m - x;
}

double x_log_y(double x, double y) {
  return x == 0 ? 0 : x * std::log(y);
}

double LogProduct::value() const {
  return std::log(mantissa_) + static_cast<double>(exponent_) * M_LN2;
}

void Sum::add(double x) {
  const double next = sum_ + x;
  if (!std::isfinite(next)) {
    sum_ = next;
    correction_ = 0;
    return;
  }
  correction_ += std::abs(sum_) >= std::abs(x) ? (sum_ - next) + x : (x - next) + sum_;
  sum_ = next;
}

}  // namespace psn
