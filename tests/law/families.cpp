// Every family against its own definition: densities integrate to one, draws follow them, moments
// and divergences agree with quadrature.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "psn/core/distribution.h"

namespace psn {
namespace {

struct Case {
  const char* name;
  Distribution p, q;   // q: another member of the family, for the divergence
  bool has_kl = true;  // in closed form
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.name;
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      {"Normal", Normal(1.5, 0.7), Normal(0.5, 1.3)},
      {"Uniform", Uniform(-2, 3), Uniform(-3, 4)},
      {"Categorical", Categorical({0.2, 0.5, 0.3}), Categorical({1, 1, 2})},
      {"PoissonSmall", Poisson(3.5), Poisson(5)},
      {"PoissonLarge", Poisson(40), Poisson(35)},
      {"Bernoulli", Bernoulli(0.3), Bernoulli(0.6)},
      {"Beta", Beta(2, 5), Beta(3, 2)},
      {"BetaSmall", Beta(0.6, 0.8), Beta(1.2, 0.7)},
      {"Exponential", Exponential(1.7), Exponential(0.6)},
      {"Gamma", Gamma(3.2, 2), Gamma(2, 1.5)},
      {"GammaSmall", Gamma(0.7, 1.4), Gamma(0.9, 1)},
      {"LogNormal", LogNormal(0.3, 0.5), LogNormal(0.1, 0.8)},
      {"BinomialSmall", Binomial(12, 0.3), Binomial(12, 0.55)},
      {"BinomialLarge", Binomial(200, 0.4), Binomial(200, 0.45)},
      {"BinomialHigh", Binomial(90, 0.85), Binomial(90, 0.8)},
      {"Weibull", Weibull(2, 1.5), Weibull(1.4, 2)},
      {"TruncatedNormal", TruncatedNormal(0.5, 1, -0.3, 2), TruncatedNormal(0, 2, -1, 2)},
      {"TruncatedNormalTail", TruncatedNormal(0, 1, 6, 8), TruncatedNormal(1, 1, 6, 8)},
      {"TruncatedNormalOneSided", TruncatedNormal(0, 1, 1, kInfinity),
       TruncatedNormal(0.2, 1.1, 1, kInfinity)},
      {"TruncatedNormalLeftTail", TruncatedNormal(0, 1, -kInfinity, -7),
       TruncatedNormal(0, 1.2, -kInfinity, -7)},
      {"StudentT", StudentT(5, 1, 0.7), StudentT(4, 0.5, 1), false},
      {"StudentTHeavy", StudentT(2.5, -1, 2), StudentT(3, 0, 1), false},
      {"NegativeBinomial", NegativeBinomial(4.5, 2.5), NegativeBinomial(3, 2.5)},
      {"NegativeBinomialSmall", NegativeBinomial(0.8, 0.3), NegativeBinomial(1.5, 0.3)},
      {"NegativeBinomialLarge", NegativeBinomial(60, 30), NegativeBinomial(50, 20), false},
      {"Geometric", Geometric(0.3), Geometric(0.5)},
      {"GeometricSmall", Geometric(0.02), Geometric(0.03)},
      {"Laplace", Laplace(0.5, 0.7), Laplace(-0.3, 1.3)},
      {"Mixture", Mixture(Value{1, 3}, {Normal(-2, 0.5), Normal(1, 1)}),
       Mixture(Value{1, 1}, {Normal(-1, 1), Normal(1, 1)}), false},
  };
  return all;
}

// Integrates f from a point to an end of the support: by the tanh-sinh rule to a finite one, which
// copes with singular ends, by the exp-sinh rule to an infinite one, which copes with heavy tails.
double integrate(double from, double to, double unit, const std::function<double(double)>& f) {
  constexpr int kPoints = 20'000;
  constexpr double kReach = 3.7;  // a finite end is approached to 1e-27 of the width
  double sum = 0;
  for (int i = 0; i <= kPoints; ++i) {
    const double t = -kReach + 2 * kReach * i / kPoints;
    const double e = M_PI_2 * std::sinh(t), slope_e = M_PI_2 * std::cosh(t);
    double x = 0, slope = 0;
    if (std::isfinite(to)) {
      x = e < 0 ? from + (to - from) / (1 + std::exp(-2 * e))
                : to - (to - from) / (1 + std::exp(2 * e));
      slope = std::abs(to - from) * slope_e / (2 * std::cosh(e) * std::cosh(e));
    } else {
      x = from + std::copysign(unit * std::exp(e), to);
      slope = unit * std::exp(e) * slope_e;
    }
    const double value = f(x) * slope;
    if (std::isfinite(value)) sum += value;
  }
  return sum * 2 * kReach / kPoints;
}

// Over the support of d; a sum for discrete families.
double integrate(const Distribution& d, const std::function<double(double)>& f) {
  const Support s = d.support();
  const double mean = d.mean().scalar();
  const double sd = std::sqrt(d.variance().scalar());
  if (!s.discrete) return integrate(mean, s.low, sd, f) + integrate(mean, s.high, sd, f);
  double sum = 0;
  const double last = std::min(s.high, mean + 40 * sd + 60);
  for (double k = s.low; k <= last; ++k) sum += f(k);
  return sum;
}

class FamilyLaw : public testing::TestWithParam<Case> {
 protected:
  const Distribution& p() const { return GetParam().p; }
  const Distribution& q() const { return GetParam().q; }
};

TEST_P(FamilyLaw, DensityIntegratesToOne) {
  ASSERT_TRUE(p().valid());
  EXPECT_NEAR(integrate(p(), [&](double x) { return std::exp(p().log_prob(x)); }), 1, 1e-6);
}

TEST_P(FamilyLaw, MomentsAgreeWithTheDensity) {
  const auto moment = [&](int k, double center) {
    return integrate(p(),
                     [&](double x) { return std::pow(x - center, k) * std::exp(p().log_prob(x)); });
  };
  const double mean = p().mean().scalar();
  const double variance = p().variance().scalar();
  EXPECT_NEAR(mean, moment(1, 0), 1e-6 * (1 + std::abs(mean)));
  EXPECT_NEAR(variance, moment(2, mean), 2e-6 * (1 + variance));
}

TEST_P(FamilyLaw, KlAgreesWithQuadrature) {
  const auto closed = kl_divergence(p(), q());
  ASSERT_EQ(closed.has_value(), GetParam().has_kl);
  if (!closed) return;
  const double numeric = integrate(p(), [&](double x) {
    const double lp = p().log_prob(x);
    return lp == -kInfinity ? 0 : std::exp(lp) * (lp - q().log_prob(x));
  });
  EXPECT_NEAR(*closed, numeric, 1e-5 * (1 + numeric));
  EXPECT_GT(*closed, 0);
  EXPECT_NEAR(*kl_divergence(p(), p()), 0, 1e-12);
}

// Kolmogorov-Smirnov for continuous families, chi-square for discrete ones. Each test has a
// false-alarm rate of 1e-6 over seeds; the seed is fixed.
TEST_P(FamilyLaw, DrawsFollowTheDensity) {
  constexpr int kDraws = 40'000;
  Rng rng(2024);
  std::vector<double> draws(kDraws);
  for (double& x : draws) {
    x = p().draw(rng).scalar();
    ASSERT_GT(p().log_prob(x), -kInfinity) << x;
  }
  std::sort(draws.begin(), draws.end());
  if (p().discrete()) {
    double chi2 = 0, rest = kDraws, rest_expected = kDraws;
    int bins = 0;
    for (double k = p().support().low; k <= draws.back(); ++k) {
      const double expected = kDraws * std::exp(p().log_prob(k));
      if (expected < 20) continue;
      const auto range = std::equal_range(draws.begin(), draws.end(), k);
      const auto count = static_cast<double>(range.second - range.first);
      chi2 += (count - expected) * (count - expected) / expected;
      rest -= count;
      rest_expected -= expected;
      ++bins;
    }
    if (rest_expected > 5) {
      chi2 += (rest - rest_expected) * (rest - rest_expected) / rest_expected;
      ++bins;
    }
    // Wilson-Hilferty quantile at 1e-6.
    const double df = bins - 1;
    const double limit = df * std::pow(1 - 2 / (9 * df) + 4.75 * std::sqrt(2 / (9 * df)), 3);
    EXPECT_LT(chi2, limit);
    return;
  }
  // The distribution function by integrating the density between neighbouring draws, coarsely
  // gathered: every 100th draw.
  double cdf = 0, largest = 0;
  double last =
      std::max(p().support().low, p().mean().scalar() - 40 * std::sqrt(p().variance().scalar()));
  for (int i = 0; i < kDraws; i += 100) {
    const double to = draws[static_cast<std::size_t>(i)];
    const int steps = i == 0 ? 200'000 : 200;
    double area = 0;
    for (int s = 0; s < steps; ++s) {
      const double x = last + (to - last) * (s + 0.5) / steps;
      area += std::exp(p().log_prob(x));
    }
    cdf += area * (to - last) / steps;
    last = to;
    largest = std::max(largest, std::abs(cdf - static_cast<double>(i) / kDraws));
  }
  EXPECT_LT(largest, 2.69 / std::sqrt(kDraws) + 1.0 / kDraws);
}

INSTANTIATE_TEST_SUITE_P(All, FamilyLaw, testing::ValuesIn(cases()),
                         [](const auto& param) { return param.param.name; });

// A vector-valued distribution is the product of its components.
TEST(FamilyShapes, ComponentsAreIndependent) {
  const Distribution vector = Normal(Value{0, 1, 2, 3}, Value{1, 2, 3, 4});
  Rng rng(1);
  const Value x = vector.draw(rng);
  double sum = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    sum += Distribution(Normal(static_cast<double>(i), i + 1.0)).log_prob(x[i]);
  }
  EXPECT_NEAR(vector.log_prob(x), sum, 1e-12);
  EXPECT_EQ(vector.mean(), (Value{0, 1, 2, 3}));
  EXPECT_EQ(vector.variance(), (Value{1, 4, 9, 16}));
  EXPECT_NEAR(
      *kl_divergence(vector, Normal(Value{0, 0, 0, 0}, 1)),
      *kl_divergence(Normal(0, 1), Normal(0, 1)) + *kl_divergence(Normal(1, 2), Normal(0, 1)) +
          *kl_divergence(Normal(2, 3), Normal(0, 1)) + *kl_divergence(Normal(3, 4), Normal(0, 1)),
      1e-12);
}

}  // namespace
}  // namespace psn
