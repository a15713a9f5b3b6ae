#include "psn/base/numerics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace psn {
namespace {

TEST(Numerics, NormalQuantileInvertsTheDistributionFunction) {
  for (double x = -8; x <= 5; x += 0.125) {
    EXPECT_NEAR(normal_quantile(normal_cdf(x)), x, 1e-9 + 2e-10 * std::exp(x * x / 4)) << x;
  }
  EXPECT_DOUBLE_EQ(normal_quantile(0.5), 0);
  EXPECT_NEAR(normal_quantile(0.975), 1.959963984540054, 1e-14);
  EXPECT_NEAR(normal_quantile(1e-20), -9.262340089798408, 1e-12);
}

TEST(Numerics, QuantilesOfManyAreThoseOfEach) {
  std::vector<double> p;
  for (int k = 1; k < 60; ++k) {  // all three pieces of the approximation, both sides
    p.push_back(std::exp(-k));
    p.push_back(1 - std::exp(-k / 2.0));
    p.push_back(k / 60.0);
  }
  for (std::size_t n = 0; n <= p.size(); ++n) {
    std::vector<double> many(p.begin(), p.begin() + static_cast<std::ptrdiff_t>(n));
    normal_quantiles(many);
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(many[i], normal_quantile(p[i])) << n << ' ' << i;
  }
}

TEST(Numerics, LogOfAProduct) {
  // Far beyond the largest and below the smallest double on the way, and from subnormal numbers.
  for (const std::vector<double>& factors : {std::vector<double>{0.25, 3, 7e-5},
                                             std::vector<double>(3000, 1.7e300),
                                             std::vector<double>(3000, 0.3),
                                             std::vector<double>{5e-324, 1e-310, 1e308},
                                             {}}) {
    LogProduct product;
    double sum = 0;
    for (const double x : factors) {
      product.multiply(x);
      sum += std::log(x);
    }
    EXPECT_NEAR(product.value(), sum, 1e-11 * (1 + std::abs(sum)));
  }
}

TEST(Numerics, LogNormalCdfFarInTheTail) {
  EXPECT_NEAR(log_normal_cdf(0), std::log(0.5), 1e-15);
  EXPECT_NEAR(log_normal_cdf(-10), -53.23128515051247, 1e-10);
  EXPECT_NEAR(log_normal_cdf(-40), -804.6084420137538, 1e-8);
  EXPECT_NEAR(log_normal_cdf(-36.999), log_normal_cdf(-37.001), 0.08);  // continuous at the seam
  EXPECT_NEAR(log_normal_cdf(10), -7.61985302416e-24, 1e-30);
}

TEST(Numerics, LogNormalIntervalInBothTails) {
  EXPECT_NEAR(log_normal_interval(-1, 1), std::log(0.6826894921370859), 1e-14);
  EXPECT_NEAR(log_normal_interval(10, 11), log_normal_interval(-11, -10), 1e-12);
  EXPECT_NEAR(log_normal_interval(-kInfinity, kInfinity), 0, 1e-15);
  EXPECT_NEAR(log_normal_interval(30, kInfinity), log_normal_cdf(-30), 1e-12);
}

TEST(Numerics, Digamma) {
  EXPECT_NEAR(digamma(1), -0.57721566490153286, 1e-13);
  EXPECT_NEAR(digamma(0.5), -1.9635100260214235, 1e-13);
  EXPECT_NEAR(digamma(100), 4.600161852738087, 1e-13);
  for (double x : {0.1, 0.7, 3.3, 12.0}) {  // it is the derivative of log Gamma
    const double h = 1e-5;
    EXPECT_NEAR(digamma(x), (log_gamma(x + h) - log_gamma(x - h)) / (2 * h), 1e-6);
    EXPECT_NEAR(trigamma(x), (digamma(x + h) - digamma(x - h)) / (2 * h), 1e-5);
  }
  EXPECT_NEAR(trigamma(1), M_PI * M_PI / 6, 1e-14);
  EXPECT_NEAR(trigamma(0.5), M_PI * M_PI / 2, 1e-14);
  EXPECT_NEAR(trigamma(1e-3) - 1e6, M_PI * M_PI / 6 - 2 * 1.2020569031595943e-3, 1e-5);
}

TEST(Numerics, LogSumExp) {
  EXPECT_EQ(log_sum_exp({}), -kInfinity);
  EXPECT_EQ(log_sum_exp(std::vector{-kInfinity, -kInfinity}), -kInfinity);
  EXPECT_NEAR(log_sum_exp(std::vector{1000.0, 1000.0}), 1000 + std::log(2), 1e-12);
  EXPECT_NEAR(log_add_exp(-kInfinity, 3), 3, 0);
}

TEST(Numerics, CompensatedSum) {
  Sum sum;
  sum.add(1);
  for (int i = 0; i < 1000; ++i) sum.add(1e-17);
  sum.add(-1);
  EXPECT_NEAR(sum.value(), 1e-14, 1e-20);
}

}  // namespace
}  // namespace psn
