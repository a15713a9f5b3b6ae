// What a posterior says of itself: standard errors against the scatter of repetitions around exact
// means, intervals against all there are.
#include "psn/infer/estimates.h"

#include <gtest/gtest.h>

#include <cmath>

#include "psn/base/error.h"
#include "psn/base/numerics.h"
#include "psn/base/rng.h"
#include "tests/law/statistics.h"

namespace psn {
namespace {

// NaN in `values`: does not occur there.
Posterior posterior_of(const std::vector<double>& values, const std::vector<double>& log_weights,
                       std::size_t chains = 0) {
  Posterior posterior({{"x", {}, [](const Trace& trace) { return trace.result; }}}, values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    Trace trace;
    if (!std::isnan(values[i])) trace.result = Value(values[i]);
    posterior.put(i, trace, log_weights[i]);
  }
  posterior.set_chains(chains);
  return posterior;
}

// N(0, 1) by importance sampling from N(0, 2^2), whose ESS is not that of the mean: the mean's
// error is 0.86 / sqrt(n), the error from the ESS would be 1.23 / sqrt(n).
Posterior weighted_normal(std::uint64_t seed, std::size_t n, bool positive_only) {
  Rng rng(seed);
  std::vector<double> values, log_weights;
  for (std::size_t i = 0; i < n; ++i) {
    const double x = 2 * rng.normal();
    values.push_back(positive_only && x <= 0 ? kNaN : x);
    log_weights.push_back(-x * x / 2 + x * x / 8);
  }
  return posterior_of(values, log_weights);
}

Posterior autoregressive_normal(std::uint64_t seed, std::size_t n, bool positive_only) {
  constexpr double kRho = 0.7;
  constexpr std::size_t kChains = 4;
  std::vector<double> values;
  for (std::size_t c = 0; c < kChains; ++c) {
    Rng rng(seed, c);
    double x = rng.normal();
    for (std::size_t i = 0; i < n / kChains; ++i) {
      values.push_back(positive_only && x <= 0 ? kNaN : x);
      x = kRho * x + std::sqrt(1 - kRho * kRho) * rng.normal();
    }
  }
  return posterior_of(values, std::vector<double>(values.size()), kChains);
}

// Deviations in units of the stated error have mean square one. Over 1000 repetitions its own error
// is sqrt(2 / 1000); 4.9 of it, one false alarm in a million seeds, and 3 % for what the delta
// method and the estimated autocorrelations leave out.
template <class Make>
void expect_honest_errors(Make make, double exact_mean) {
  constexpr int kRepetitions = 1000;
  double squares = 0;
  for (int r = 0; r < kRepetitions; ++r) {
    const Posterior posterior = make(static_cast<std::uint64_t>(r));
    const double z = (posterior.mean("x") - exact_mean) / mean_standard_error(posterior, "x");
    squares += z * z;
  }
  EXPECT_NEAR(squares / kRepetitions, 1, kStandardErrors * std::sqrt(2.0 / kRepetitions) + 0.03);
}

// E[x | x > 0] of a standard normal.
const double kHalfNormalMean = std::sqrt(2 / M_PI);

TEST(EstimateLaw, ErrorsOfWeightedMeans) {
  expect_honest_errors([](auto seed) { return weighted_normal(seed, 1000, false); }, 0);
}

TEST(EstimateLaw, ErrorsOfWeightedMeansOfWhatDoesNotAlwaysOccur) {
  expect_honest_errors([](auto seed) { return weighted_normal(seed, 1000, true); },
                       kHalfNormalMean);
}

TEST(EstimateLaw, ErrorsOfChains) {
  expect_honest_errors([](auto seed) { return autoregressive_normal(seed, 2000, false); }, 0);
}

TEST(EstimateLaw, ErrorsOfChainsOfWhatDoesNotAlwaysOccur) {
  expect_honest_errors([](auto seed) { return autoregressive_normal(seed, 2000, true); },
                       kHalfNormalMean);
}

TEST(EstimateLaw, EqualWeightsHaveTheTextbooksError) {
  const Posterior posterior = posterior_of({1, 2, 4, 9}, std::vector<double>(4, -7.0));
  EXPECT_NEAR(mean_standard_error(posterior, "x"), std::sqrt(posterior.variance("x") / 4), 1e-12);
  EXPECT_TRUE(std::isnan(mean_standard_error(posterior_of({kNaN, kNaN}, {0, 0}), "x")));
  EXPECT_TRUE(std::isnan(
      mean_standard_error(posterior_of(std::vector<double>(40, 1.0), std::vector<double>(40), 2),
                          "x")));  // a chain that never moves knows nothing of its error
}

// Of all intervals between two samples.
Interval narrowest_of_all(const Posterior& posterior, double mass) {
  const std::vector<double> weights = posterior.weights();
  const std::vector<double>& x = posterior.column("x").data;
  Interval best{-kInfinity, kInfinity};
  for (const double low : x) {
    for (const double high : x) {
      double inside = 0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        if (x[i] >= low && x[i] <= high) inside += weights[i];
      }
      if (inside >= mass - 1e-9 && high - low < best.high - best.low) best = {low, high};
    }
  }
  return best;
}

TEST(EstimateLaw, NoIntervalOfThatMassIsNarrower) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Posterior posterior = weighted_normal(seed, 40, false);
    for (const double mass : {0.1, 0.5, 0.9, 0.99}) {
      const Interval found = highest_density_interval(posterior, "x", mass);
      const Interval exact = narrowest_of_all(posterior, mass);
      EXPECT_EQ(found.low, exact.low) << mass;
      EXPECT_EQ(found.high, exact.high) << mass;
    }
  }
}

// An exponential's narrowest interval begins at zero; its end is a quantile, whose error is
// sqrt(p (1 - p) / n) / density.
TEST(EstimateLaw, IntervalOfAnExponential) {
  constexpr std::size_t kDraws = 40'000;
  std::vector<double> values;
  Rng rng(3);
  for (std::size_t i = 0; i < kDraws; ++i) values.push_back(-std::log(rng.uniform()));
  const Interval found =
      highest_density_interval(posterior_of(values, std::vector<double>(kDraws)), "x", 0.9);
  EXPECT_LT(found.low, 0.01);
  EXPECT_NEAR(found.high, std::log(10.0),
              kStandardErrors * std::sqrt(0.9 * 0.1 / kDraws) / 0.1 + 0.01);
}

TEST(EstimateLaw, IntervalsOfLittle) {
  EXPECT_TRUE(std::isnan(highest_density_interval(posterior_of({kNaN}, {0}), "x", 0.5).low));
  const Interval all =
      highest_density_interval(posterior_of({3, 1, 2}, {0, 0, -kInfinity}), "x", 1);
  EXPECT_EQ(all.low, 1);
  EXPECT_EQ(all.high, 3);
  EXPECT_THROW(highest_density_interval(posterior_of({1}, {0}), "x", 0), InvalidArgument);
}

}  // namespace
}  // namespace psn
