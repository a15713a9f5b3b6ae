#include "psn/core/missing.h"

#include <gtest/gtest.h>

#include <cmath>

#include "psn/base/error.h"

namespace psn {
namespace {

TEST(Gaps, AreCounted) {
  EXPECT_EQ(gaps(Value{1, 2}), Gaps::kNone);
  EXPECT_EQ(gaps(Value{1, kNaN}), Gaps::kSome);
  EXPECT_EQ(gaps(Value(kNaN)), Gaps::kAll);
  EXPECT_EQ(count_present(Value{1, kNaN, 2}), 2u);
}

TEST(Gaps, AreIntegratedOut) {
  const Distribution normal = Normal(Value{1, 2, 3}, Value{1, 2, 0.5});
  const Value x{0.3, kNaN, 2.5};
  EXPECT_DOUBLE_EQ(log_prob_of_present(normal, x), Distribution(Normal(1, 1)).log_prob(0.3) +
                                                       Distribution(Normal(3, 0.5)).log_prob(2.5));
  EXPECT_EQ(log_prob_of_present(normal, Value{kNaN, kNaN, kNaN}), 0);
  EXPECT_THROW(log_prob_of_present(normal, Value{1, kNaN}), ModelError);
  const Distribution categorical = Categorical(Value({0.2, 0.8, 0.5, 0.5}, {2, 2}));
  EXPECT_DOUBLE_EQ(log_prob_of_present(categorical, Value{1, kNaN}), std::log(0.8));
}

// Components of a mixture hang together: against the sum over the component that is missing.
TEST(Gaps, OfAMixture) {
  const Distribution mixture =
      Mixture({0.3, 0.7}, {Poisson(Value{1, 4}), Binomial(10, Value{0.5, 0.1})});
  double sum = 0;
  for (int k = 0; k < 60; ++k) sum += std::exp(mixture.log_prob(Value{2, static_cast<double>(k)}));
  EXPECT_NEAR(log_prob_of_present(mixture, Value{2, kNaN}), std::log(sum), 1e-12);
  // The gap's law is the conditional one.
  constexpr int kDraws = 100'000;
  Rng rng(4);
  double mean = 0;
  for (int i = 0; i < kDraws; ++i) {
    const Value filled = fill_gaps(mixture, Value{2, kNaN}, rng);
    ASSERT_EQ(filled[0], 2);
    mean += filled[1] / kDraws;
  }
  double exact = 0, square = 0;
  for (int k = 0; k < 60; ++k) {
    const double p = std::exp(mixture.log_prob(Value{2, static_cast<double>(k)})) / sum;
    exact += p * k;
    square += p * k * k;
  }
  // 4.9 standard errors: a false alarm in a million seeds.
  EXPECT_NEAR(mean, exact, 4.9 * std::sqrt((square - exact * exact) / kDraws));
}

// A mixture of vectors that hang together, against the sum of the parts' own.
TEST(Gaps, OfAMixtureOfVectorsThatHangTogether) {
  const Distribution one = MultivariateNormal({0, 1}, Value({1, 0.5, 0.5, 2}, {2, 2}));
  const Distribution other = MultivariateNormal({3, 0}, Value({2, -1, -1, 1}, {2, 2}));
  const Distribution mixture = Mixture({0.3, 0.7}, {one, other});
  const double expected = 0.3 * std::exp(Distribution(Normal(0, 1)).log_prob(0.4)) +
                          0.7 * std::exp(Distribution(Normal(3, std::sqrt(2.0))).log_prob(0.4));
  EXPECT_NEAR(log_prob_of_present(mixture, Value{0.4, kNaN}), std::log(expected), 1e-12);
  Rng rng(2);
  EXPECT_EQ(fill_gaps(mixture, Value{0.4, kNaN}, rng)[0], 0.4);
}

TEST(Support, OfAFamilyWhateverItsParameters) {
  EXPECT_EQ(never_yields(Poisson(3), 9), std::nullopt);
  EXPECT_EQ(never_yields(Poisson(3), 9.5), "Poisson yields whole numbers from 0, never 9.5");
  EXPECT_EQ(never_yields(Poisson(3), -9), "Poisson yields whole numbers from 0, never -9");
  EXPECT_EQ(never_yields(Categorical({1, 1, 1}), 3),
            "Categorical yields whole numbers from 0 to 2, never 3");
  EXPECT_EQ(never_yields(Beta(1, 1), 1.5), "Beta yields numbers from 0 to 1, never 1.5");
  EXPECT_EQ(never_yields(Gamma(1, 1), Value(-1.0)), "Gamma yields numbers from 0, never -1");
  EXPECT_EQ(never_yields(Normal(0, Value{1, 1}), Value{1e9, kNaN}), std::nullopt);
  EXPECT_EQ(never_yields(Dirichlet({1, 1}), Value{0.2, 0.7}),
            "Dirichlet yields numbers that sum to 1, never [0.2, 0.7]");
  EXPECT_EQ(never_yields(Dirichlet({1, 1}), Value{-0.2, 1.2}),
            "Dirichlet yields numbers from 0 to 1, never -0.2");
  EXPECT_EQ(never_yields(Dirichlet({1, 1}), Value{0.3f, 0.7f}), std::nullopt);
  EXPECT_EQ(never_yields(Dirichlet({1, 1, 1}), Value{0.2, kNaN, 0.7}), std::nullopt);
  EXPECT_EQ(never_yields(Dirichlet({1, 1, 1}), Value{0.5, kNaN, 0.7}),
            "Dirichlet yields numbers that sum to 1, never [0.5, nan, 0.7]");
  EXPECT_EQ(never_yields(Uniform(0, 1), 2), std::nullopt);  // its bounds may be random
  EXPECT_EQ(never_yields(Binomial(3, 0.5), 4), std::nullopt);
  EXPECT_EQ(never_yields(Mixture({1, 1}, {Poisson(1), Normal(0, 1)}), 0.5), std::nullopt);
  EXPECT_TRUE(never_yields(Mixture({1, 1}, {Poisson(1), Poisson(2)}), 0.5));
}

}  // namespace
}  // namespace psn
