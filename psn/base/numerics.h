// Special functions and sums that stay accurate where the textbook forms do not.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <span>

namespace psn {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kLogSqrt2Pi = 0.91893853320467274178;

// log Gamma(x) for x > 0. Unlike std::lgamma it writes no global, so threads may share it.
double log_gamma(double x);

// log B(a, b) = log Gamma(a) + log Gamma(b) - log Gamma(a + b).
double log_beta(double a, double b);

// d/dx log Gamma(x), x > 0, and its derivative.
double digamma(double x);
double trigamma(double x);

// Standard normal: Phi, log Phi (accurate far into the tail), and Phi^-1 (Wichura's AS 241).
double normal_cdf(double x);
double log_normal_cdf(double x);
double normal_quantile(double p);
// Of many at once, in their place; each the same as alone.
void normal_quantiles(std::span<double> p);

// log(Phi(high) - Phi(low)) for low < high, accurate in both tails.
double log_normal_interval(double low, double high);

// log of a sum of exponentials; -inf for an empty range.
double log_sum_exp(std::span<const double> values);
double log_add_exp(double a, double b);

// log Gamma(n + 1) minus Stirling's approximation of it, n > 0; and the deviance
// x log(x / m) + m - x. Together they give the densities of Poisson and binomial variables without
// cancellation for large counts (Loader 2000).
double stirling_error(double n);
double deviance(double x, double m);

// x log y with 0 log 0 = 0.
double x_log_y(double x, double y);

// log of a product of many positive numbers, at the price of one logarithm.
class LogProduct {
 public:
  void multiply(double x) {
    if (x < std::numeric_limits<double>::min()) {  // subnormal: no leading one in its mantissa
      x *= 0x1p60;
      exponent_ -= 60;
    }
    const auto bits = std::bit_cast<std::uint64_t>(x);
    exponent_ += static_cast<std::int64_t>(bits >> 52) - 1023;
    mantissa_ *= std::bit_cast<double>((bits & 0xFFFFFFFFFFFFF) | 0x3FF0000000000000);
    if (mantissa_ > 0x1p500) {
      mantissa_ *= 0x1p-500;
      exponent_ += 500;
    }
  }
  double value() const;

 private:
  double mantissa_ = 1;
  std::int64_t exponent_ = 0;
};

// Neumaier's compensated sum: independent of how values were produced, exact to one rounding.
class Sum {
 public:
  void add(double x);
  double value() const { return sum_ + correction_; }

 private:
  double sum_ = 0;
  double correction_ = 0;
};

}  // namespace psn
