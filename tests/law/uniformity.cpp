// The statistics behind verdicts: each against what it claims, by simulation or by arithmetic.
#include "psn/evidence/uniformity.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "psn/base/numerics.h"
#include "psn/base/rng.h"
#include "psn/evidence/places.h"
#include "psn/evidence/tests.h"

namespace psn::evidence {
namespace {

using Draw = std::function<double(Rng&)>;

double uniform(Rng& rng) {
  return rng.uniform();
}

std::vector<double> sample(std::size_t count, std::uint64_t seed, const Draw& draw) {
  Rng rng(seed, 0, 77);
  std::vector<double> values(count);
  for (double& value : values) value = draw(rng);
  return values;
}

std::vector<double> p_values(const UniformBand& band, std::size_t samples, const Draw& draw) {
  std::vector<double> values;
  for (std::uint64_t i = 0; i < samples; ++i) {
    values.push_back(band.p_value(sample(band.count(), i + 1, draw)));
  }
  return values;
}

double share_up_to(const std::vector<double>& values, double level) {
  const auto count =
      std::count_if(values.begin(), values.end(), [&](double p) { return p <= level; });
  return static_cast<double>(count) / static_cast<double>(values.size());
}

// The share of samples with a p-value of at most `level`.
double rejected(const UniformBand& band, double level, std::size_t samples, const Draw& draw) {
  return share_up_to(p_values(band, samples, draw), level);
}

// A binomial share this far off is a false alarm in less than 1 of 10,000.
double error_of(double share, std::size_t samples) {
  return 4 * std::sqrt(share * (1 - share) / static_cast<double>(samples)) + 1e-9;
}

// The probability to leave the band is computed: against as many samples as show a tenth of it.
TEST(UniformBand, HasItsLevel) {
  constexpr std::size_t kSamples = 2000;
  for (const std::size_t count : {20, 150, 400}) {
    const std::vector<double> p = p_values(UniformBand(count, 0), kSamples, uniform);
    for (const double level : {0.2, 0.05}) {
      EXPECT_LT(share_up_to(p, level), level + error_of(level, kSamples)) << count;
      // Both sides at once are rare, and counts are discrete: not much is given away.
      EXPECT_GT(share_up_to(p, level), 0.75 * level - error_of(level, kSamples)) << count;
    }
  }
}

// The chain of counts against arithmetic, for two numbers. Both are below z with probability z^2,
// one of them with 1 - (1 - z)^2.
TEST(UniformBand, CrossesAsOftenAsCountsDo) {
  const UniformBand band(2, 0);
  EXPECT_NEAR(band.crossing(0.0101), 0.01, 1e-9);  // both below .1
  // One of them below .03, or both below .25.
  EXPECT_NEAR(band.crossing(0.063), 1 - 0.97 * 0.97 + 0.22 * 0.22, 1e-9);
}

// The band and the p-value are one test.
TEST(UniformBand, IsLeftByWhatIsRejected) {
  UniformTests tests(0.02);
  std::size_t rejections = 0;
  for (std::uint64_t i = 0; i < 400; ++i) {
    Curve curve = tests.test(sample(200, i, [](Rng& rng) { return std::pow(rng.uniform(), 1.3); }));
    tests.add_band(curve, 0.05);
    // At the very edge the limits, found by halving, may be a hair further out.
    EXPECT_TRUE(curve.outside || curve.p_value >= 0.049) << curve.p_value;
    EXPECT_TRUE(!curve.outside || curve.p_value <= 0.05) << curve.p_value;
    rejections += curve.outside ? 1 : 0;
  }
  EXPECT_GT(rejections, 20u);
  EXPECT_LT(rejections, 380u);
}

// Whatever is off by no more than the tolerance is rejected no more often than stated; what is off
// by more is found.
TEST(UniformBand, ToleratesWhatItShould) {
  const UniformBand band(800, 0.03);
  const Draw within = [](Rng& rng) {  // F(z) = z + .03 from .03 on
    const double u = rng.uniform();
    return std::max(1e-9, u - 0.03);
  };
  const Draw bent = [](Rng& rng) {  // F(z) - z = .03 sin(2 pi z)
    const double u = rng.uniform();
    double z = u;
    for (int i = 0; i < 60; ++i) z = u - 0.03 * std::sin(2 * M_PI * z);
    return z;
  };
  const Draw beyond = [](Rng& rng) { return std::pow(rng.uniform(), 1.35); };  // off by .11
  constexpr std::size_t kSamples = 500;
  EXPECT_LT(rejected(band, 0.05, kSamples, within), 0.05 + error_of(0.05, kSamples));
  EXPECT_LT(rejected(band, 0.05, kSamples, bent), 0.05 + error_of(0.05, kSamples));
  EXPECT_GT(rejected(band, 0.01, 100, beyond), 0.95);
}

// Far beyond all simulation p-values go on to fall, and are never zero for good reasons' lack.
TEST(UniformBand, KnowsSmallProbabilities) {
  const UniformBand band(500, 0);
  double last = 1;
  for (const double power : {1.0, 1.3, 1.6, 2.0, 3.0}) {
    const double p =
        band.p_value(sample(500, 3, [&](Rng& r) { return std::pow(r.uniform(), power); }));
    EXPECT_LE(p, last);
    EXPECT_GT(p, 0);
    last = p;
  }
  EXPECT_LT(last, 1e-12);
}

TEST(UniformTests, UsesFewSizesAndMostOfASample) {
  const UniformTests tests(0, 5000);
  EXPECT_EQ(tests.usable(19), 0u);
  EXPECT_EQ(tests.usable(20), 20u);
  EXPECT_EQ(tests.usable(1'000'000), 5000u);
  std::size_t sizes = 0;
  for (std::size_t n = 20, last = 0; n <= 5000; ++n) {
    EXPECT_LE(tests.usable(n), n);
    EXPECT_GE(static_cast<double>(tests.usable(n)), 0.88 * static_cast<double>(n)) << n;
    if (tests.usable(n) != std::exchange(last, tests.usable(n))) ++sizes;
  }
  EXPECT_LT(sizes, 80u);
}

// Of a count, ties broken at random, with few draws: exactly uniform.
TEST(Places, AreUniformForAnyDistribution) {
  const UniformBand band(200, 0);
  for (const int values : {0, 2, 5}) {  // 0: a continuous one
    const auto draw = [&](Rng& rng) {
      return values == 0 ? rng.normal() : std::floor(values * std::pow(rng.uniform(), 2.0));
    };
    const double share = rejected(band, 0.05, 500, [&](Rng& rng) {
      double draws[7];
      for (double& x : draws) x = draw(rng);
      return place_among(draw(rng), draws, rng);
    });
    EXPECT_LT(share, 0.05 + error_of(0.05, 500)) << values;
  }
}

TEST(Places, WithEqualWeightsAreThoseWithout) {
  const std::vector<double> draws{3, 1, 2, 2, 7}, weights(5, 0.2);
  for (const double x : {0.0, 2.0, 2.5, 9.0}) {
    Rng one(5), other(5);
    EXPECT_NEAR(place_among(x, draws, one), weighted_place(x, draws, weights, other), 1e-12);
  }
}

// Draws from a wider proposal with their weights stand for those of the target.
TEST(Places, OfWeightedDrawsAreUniform) {
  const UniformBand band(200, 0);
  const double share = rejected(band, 0.05, 200, [](Rng& rng) {
    std::vector<double> draws(100), weights(100);
    for (std::size_t i = 0; i < draws.size(); ++i) {
      draws[i] = 1.5 * rng.normal() + 0.3;
      const double z = (draws[i] - 0.3) / 1.5;
      weights[i] = std::exp(0.5 * z * z - 0.5 * draws[i] * draws[i]);
    }
    return weighted_place(rng.normal(), draws, weights, rng);
  });
  EXPECT_LT(share, 0.05 + error_of(0.05, 200));
}

TEST(Places, WithNothingToGoByAreUniform) {
  Rng rng(1);
  const std::vector<double> draws{kNaN, kNaN}, weights{1, 1};
  double sum = 0;
  for (int i = 0; i < 1000; ++i) sum += weighted_place(1, draws, weights, rng);
  EXPECT_NEAR(sum / 1000, 0.5, 0.04);  // 4.4 sd
}

TEST(Holm, IsByHand) {
  const std::vector<double> p{0.01, 0.04, 0.03, 0.005};
  const std::vector<double> expected{0.03, 0.06, 0.06, 0.02};
  const auto adjusted = holm(p);
  for (std::size_t i = 0; i < p.size(); ++i) EXPECT_NEAR(adjusted[i], expected[i], 1e-12);
}

TEST(BenjaminiHochberg, IsByHand) {
  const std::vector<double> p{0.01, 0.04, 0.03, 0.005, 0.9};
  const std::vector<double> expected{0.025, 0.05, 0.05, 0.025, 0.9};
  const auto adjusted = benjamini_hochberg(p);
  for (std::size_t i = 0; i < p.size(); ++i) EXPECT_NEAR(adjusted[i], expected[i], 1e-12);
}

// On average over 2,000 lists of 20 p-values, of which 15 are uniform.
TEST(BenjaminiHochberg, ControlsTheShareOfFalseDiscoveries) {
  Rng rng(9);
  double shares = 0, found = 0;
  constexpr int kLists = 2000;
  for (int i = 0; i < kLists; ++i) {
    std::vector<double> p(20);
    for (std::size_t k = 0; k < p.size(); ++k) p[k] = k < 5 ? 1e-3 * rng.uniform() : rng.uniform();
    const auto q = benjamini_hochberg(p);
    double right = 0, wrong = 0;
    for (std::size_t k = 0; k < p.size(); ++k) (k < 5 ? right : wrong) += q[k] <= 0.1 ? 1 : 0;
    if (right + wrong > 0) shares += wrong / (right + wrong);
    found += right;
  }
  EXPECT_LT(shares / kLists, 0.1);
  EXPECT_GT(shares / kLists, 0.05);  // .075 is exact for independent ones
  EXPECT_GT(found / kLists, 4.9);
}

TEST(Tails, AreBoundsOrExact) {
  EXPECT_NEAR(binomial_tail(3, 0.5, 2), 0.5, 1e-12);
  EXPECT_NEAR(binomial_tail(10, 0.1, 1), 1 - std::pow(0.9, 10), 1e-12);
  EXPECT_EQ(binomial_tail(10, 0.1, 0), 1);
  for (const double n : {10.0, 100.0}) {
    for (const double p : {0.02, 0.5}) {
      for (double k = std::ceil(n * p); k <= n; ++k) {
        EXPECT_GE(bernstein_tail(k - n * p, n * p * (1 - p)) + 1e-12, binomial_tail(n, p, k));
        // Of events it is a bound too, and no loose one.
        EXPECT_GE(hoeffding_tail(n, p, k / n) + 1e-12, binomial_tail(n, p, k));
        if (k > n * p) EXPECT_LE(hoeffding_tail(n, p, k / n), 4 * n * binomial_tail(n, p, k));
      }
    }
  }
}

// The whole verdict's false-alarm rate, of 30 tests of which none should fail.
TEST(Verdict, FailsWhatIsSoundAsOftenAsStated) {
  Rng rng(4);
  int failed = 0;
  constexpr int kVerdicts = 20'000;
  for (int i = 0; i < kVerdicts; ++i) {
    std::vector<evidence::Test> tests(30);
    for (evidence::Test& test : tests) test.p_value = rng.uniform();
    failed += verdict_of(tests).passed ? 0 : 1;
  }
  const double share = static_cast<double>(failed) / kVerdicts;
  EXPECT_NEAR(share, kFalseAlarm, error_of(kFalseAlarm, kVerdicts));
}

TEST(Verdict, TellsTheWorstFewOfASort) {
  std::vector<evidence::Test> tests;
  for (int i = 0; i < 5; ++i) tests.push_back({"pit", "a", 1e-9, "bad"});
  tests.push_back({"kl", "", 1e-12, "worse"});
  tests.push_back({"kl", "", 0.5, "fine"});
  const Verdict verdict = verdict_of(tests);
  EXPECT_FALSE(verdict.passed);
  const std::vector<std::string> reasons{"worse", "bad", "bad", "bad",
                                         "... and 2 more sites by 'pit'"};
  EXPECT_EQ(verdict.reasons, reasons);
}

}  // namespace
}  // namespace psn::evidence
