#include "psn/base/numerics.h"

#include <math.h>  // lgamma_r

#include <algorithm>
#include <array>
#include <cmath>

namespace psn {
namespace {

template <std::size_t N>
double polynomial(const std::array<double, N>& coefficients, double x) {
  double result = coefficients[N - 1];
  for (std::size_t i = N - 1; i-- > 0;) result = result * x + coefficients[i];
  return result;
}

}  // namespace

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

double normal_cdf(double x) {
  return 0.5 * std::erfc(-x * M_SQRT1_2);
}

double log_normal_cdf(double x) {
  if (x > 5) return std::log1p(-0.5 * std::erfc(x * M_SQRT1_2));
  if (x > -37) return std::log(0.5 * std::erfc(-x * M_SQRT1_2));
  const double y = 1 / (x * x);
  return -0.5 * x * x - std::log(-x) - kLogSqrt2Pi + std::log1p(-y * (1 - y * (3 - y * 15)));
}

double normal_quantile(double p) {
  // Wichura (1988), algorithm AS 241, PPND16: relative error about 1e-16.
  constexpr std::array kA{3.3871328727963666080e0,  1.3314166789178437745e+2,
                          1.9715909503065514427e+3, 1.3731693765509461125e+4,
                          4.5921953931549871457e+4, 6.7265770927008700853e+4,
                          3.3430575583588128105e+4, 2.5090809287301226727e+3};
  constexpr std::array kB{1.0,
                          4.2313330701600911252e+1,
                          6.8718700749205790830e+2,
                          5.3941960214247511077e+3,
                          2.1213794301586595867e+4,
                          3.9307895800092710610e+4,
                          2.8729085735721942674e+4,
                          5.2264952788528545610e+3};
  constexpr std::array kC{1.42343711074968357734e0,  4.63033784615654529590e0,
                          5.76949722146069140550e0,  3.64784832476320460504e0,
                          1.27045825245236838258e0,  2.41780725177450611770e-1,
                          2.27238449892691845833e-2, 7.74545014278341407640e-4};
  constexpr std::array kD{1.0,
                          2.05319162663775882187e0,
                          1.67638483018380384940e0,
                          6.89767334985100004550e-1,
                          1.48103976427480074590e-1,
                          1.51986665636164571966e-2,
                          5.47593808499534494600e-4,
                          1.05075007164441684324e-9};
  constexpr std::array kE{6.65790464350110377720e0,  5.46378491116411436990e0,
                          1.78482653991729133580e0,  2.96560571828504891230e-1,
                          2.65321895265761230930e-2, 1.24266094738807843860e-3,
                          2.71155556874348757815e-5, 2.01033439929228813265e-7};
  constexpr std::array kF{1.0,
                          5.99832206555887937690e-1,
                          1.36929880922735805310e-1,
                          1.48753612908506148525e-2,
                          7.86869131145613259100e-4,
                          1.84631831751005468180e-5,
                          1.42151175831644588870e-7,
                          2.04426310338993978564e-15};
  const double q = p - 0.5;
  if (std::abs(q) <= 0.425) {
    const double r = 0.180625 - q * q;
    return q * polynomial(kA, r) / polynomial(kB, r);
  }
  double r = std::sqrt(-std::log(q < 0 ? p : 1 - p));
  double x = 0;
  if (r <= 5) {
    r -= 1.6;
    x = polynomial(kC, r) / polynomial(kD, r);
  } else {
    r -= 5;
    x = polynomial(kE, r) / polynomial(kF, r);
  }
  return q < 0 ? -x : x;
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
