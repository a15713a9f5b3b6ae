#include "psn/infer/diagnostics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "psn/base/numerics.h"
#include "psn/base/rng.h"

namespace psn {
namespace {

std::vector<double> autoregressive(double rho, std::size_t n, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<double> x(n);
  double state = rng.normal();
  for (double& value : x) {
    value = state;
    state = rho * state + std::sqrt(1 - rho * rho) * rng.normal();
  }
  return x;
}

// An AR(1) chain of correlation rho has effective size n (1 - rho) / (1 + rho).
TEST(Diagnostics, ChainEffectiveSampleSizeOfAutoregression) {
  for (const double rho : {0.0, 0.5, 0.9}) {
    const std::size_t n = 200'000;
    const double expected = static_cast<double>(n) * (1 - rho) / (1 + rho);
    const auto x = autoregressive(rho, n, 11);
    EXPECT_NEAR(chain_effective_sample_size({x, 1}) / expected, 1, 0.06) << rho;
    EXPECT_NEAR(chain_effective_sample_size({x, 4}) / expected, 1, 0.06) << rho;
  }
}

// By the definition, lag by lag: sums of adjacent pairs, made decreasing, as long as positive.
double effective_size_by_definition(const std::vector<double>& x) {
  const auto n = static_cast<double>(x.size());
  double mean = 0, pooled = 0, sum = 0, least = kInfinity;
  for (const double value : x) mean += value / n;
  const auto covariance = [&](std::size_t lag) {
    double total = 0;
    for (std::size_t i = 0; i + lag < x.size(); ++i) total += (x[i] - mean) * (x[i + lag] - mean);
    return total / n;
  };
  pooled = covariance(0);
  for (std::size_t lag = 0; lag + 1 < x.size(); lag += 2) {
    const double pair = (covariance(lag) + covariance(lag + 1)) / pooled;
    if (pair <= 0) break;
    sum += least = std::min(least, pair);
  }
  return n / (2 * sum - 1);
}

// Also where correlations last longer than the lags that are looked at first, for chains longer and
// shorter than these, and of no round length.
TEST(Diagnostics, ChainEffectiveSampleSizeIsThatOfTheDefinition) {
  for (const auto& [rho, n] : {std::pair{0.9995, 20'000}, {0.99, 5'000}, {0.5, 1'500}, {0.9, 77}}) {
    const auto x = autoregressive(rho, static_cast<std::size_t>(n), 5);
    EXPECT_NEAR(chain_effective_sample_size({x, 1}) / effective_size_by_definition(x), 1, 1e-9)
        << rho << " " << n;
  }
}

TEST(Diagnostics, RhatTellsChainsThatDisagree) {
  std::vector<double> agree, disagree;
  for (std::uint64_t c = 0; c < 4; ++c) {
    for (const double x : autoregressive(0.5, 5000, c)) {
      agree.push_back(x);
      disagree.push_back(x + (c == 3 ? 2 : 0));
    }
  }
  EXPECT_NEAR(split_rhat({agree, 4}), 1, 0.005);
  EXPECT_GT(split_rhat({disagree, 4}), 1.2);
  std::vector<double> drift(1000);  // one chain that has not settled
  for (std::size_t i = 0; i < drift.size(); ++i) drift[i] = static_cast<double>(i);
  EXPECT_GT(split_rhat({drift, 1}), 1.5);
}

TEST(Diagnostics, ConstantOrShortChainsHaveNoAnswer) {
  const std::vector<double> constant(100, 1.0);
  EXPECT_TRUE(std::isnan(chain_effective_sample_size({constant, 1})));
  EXPECT_TRUE(std::isnan(split_rhat({constant, 2})));
  EXPECT_TRUE(std::isnan(chain_effective_sample_size({std::vector{1.0}, 1})));
  EXPECT_TRUE(std::isnan(split_rhat({{}, 0})));
  std::vector<double> stuck;  // each chain in a place of its own
  for (int c = 0; c < 4; ++c) stuck.insert(stuck.end(), 100, 0.1 * c);
  EXPECT_EQ(split_rhat({stuck, 4}), kInfinity);
}

// Weights with a Pareto tail of index 1/k have shape k.
TEST(Diagnostics, KhatRecoversTheTail) {
  for (const double k : {0.2, 0.5, 0.9}) {
    Rng rng(5);
    std::vector<double> log_weights(100'000);
    for (double& w : log_weights) w = -k * std::log(rng.uniform());
    const auto [khat, threshold] = pareto_khat(log_weights);
    EXPECT_NEAR(khat, k, 0.12) << k;  // 949 exceedances: 4 standard errors of (1 + k) / sqrt(949)
    EXPECT_NEAR(threshold, 0.7, 1e-12);
  }
}

TEST(Diagnostics, KhatThresholdDependsOnTheSampleSize) {
  const std::vector<double> few(100, 0.0);
  EXPECT_NEAR(pareto_khat(few).threshold, 0.5, 1e-12);
  EXPECT_EQ(pareto_khat(few).khat, -kInfinity);  // equal weights
  EXPECT_TRUE(std::isnan(pareto_khat(std::vector{0.0, 1.0}).khat));
  std::vector<double> one(1000, -1e5);  // nothing else counts
  one[3] = 0;
  EXPECT_EQ(pareto_khat(one).khat, kInfinity);
  EXPECT_TRUE(std::isnan(pareto_khat(std::vector<double>(100, -kInfinity)).khat));
}

}  // namespace
}  // namespace psn
