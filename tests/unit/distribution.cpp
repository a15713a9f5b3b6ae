// What a Distribution says of itself; that its law is right is tested in law/families.cpp.
#include "psn/core/distribution.h"

#include <gtest/gtest.h>

#include <cmath>

#include "psn/base/error.h"

namespace psn {
namespace {

std::string problem(const Distribution& d) {
  EXPECT_EQ(d.valid(), !d.problem().has_value());
  return d.problem().value_or("");
}

TEST(Distribution, BadParametersAreNamed) {
  EXPECT_EQ(problem(Normal(0, 1)), "");
  EXPECT_EQ(problem(Normal(kNaN, 1)), "Normal(mean=nan, stddev=1): mean must be finite");
  EXPECT_EQ(problem(Normal(0, -1)),
            "Normal(mean=0, stddev=-1): stddev must be positive and finite");
  EXPECT_EQ(problem(Normal(0, Value{1, 0})),
            "Normal(mean=0, stddev=0), component 1: stddev must be positive and finite");
  EXPECT_EQ(problem(Normal(Value{1, 2}, Value{1, 2, 3})),
            "Normal: stddev has shape [3], another parameter [2]");
  EXPECT_EQ(problem(Normal(Value(), 1)), "Normal: mean has no components");
  EXPECT_EQ(problem(Uniform(1, 1)), "Uniform(low=1, high=1): low must be less than high");
  EXPECT_NE(problem(Uniform(0, kInfinity)), "");
  EXPECT_NE(problem(Poisson(0)), "");
  EXPECT_NE(problem(Bernoulli(1.5)), "");
  EXPECT_NE(problem(Beta(0, 1)), "");
  EXPECT_NE(problem(Exponential(-1)), "");
  EXPECT_NE(problem(Gamma(1, kNaN)), "");
  EXPECT_NE(problem(LogNormal(kInfinity, 1)), "");
  EXPECT_NE(problem(Binomial(2.5, 0.5)), "");
  EXPECT_NE(problem(Binomial(-1, 0.5)), "");
  EXPECT_NE(problem(Weibull(1, 0)), "");
  EXPECT_NE(problem(TruncatedNormal(0, 1, 2, 1)), "");
  EXPECT_NE(problem(TruncatedNormal(0, 0, 0, 1)), "");
  EXPECT_NE(problem(StudentT(0, 0, 1)), "");
  EXPECT_NE(problem(StudentT(1, kInfinity, 1)), "");
  EXPECT_EQ(problem(StudentT(1, 0, -1)),
            "StudentT(df=1, loc=0, scale=-1): scale must be positive and finite");
  EXPECT_NE(problem(NegativeBinomial(0, 1)), "");
  EXPECT_NE(problem(NegativeBinomial(1, kInfinity)), "");
  EXPECT_NE(problem(Geometric(0)), "");
  EXPECT_NE(problem(Geometric(1.1)), "");
  EXPECT_NE(problem(Laplace(kNaN, 1)), "");
  EXPECT_NE(problem(Laplace(0, 0)), "");
  EXPECT_EQ(problem(Dirichlet({1, 0.5})), "");
  EXPECT_EQ(problem(Dirichlet({1, -0.5})),
            "Dirichlet(concentration=[1, -0.5]): concentration must be positive");
  EXPECT_EQ(problem(Dirichlet({1, kInfinity})),
            "Dirichlet(concentration=[1, inf]): concentration must be finite");
  EXPECT_EQ(problem(Dirichlet({1e308, 1e308})),
            "Dirichlet(concentration=[1e+308, 1e+308]): concentration must have a finite sum");
  EXPECT_EQ(problem(Dirichlet(Value{2.0})),
            "Dirichlet: concentration has 1 components; 2 at least");
  EXPECT_EQ(problem(Dirichlet(Value(2.0))), "Dirichlet: concentration is no vector of numbers");
  EXPECT_EQ(problem(Dirichlet(Value({1, 1, 1, 1}, {2, 2}))),
            "Dirichlet: concentration is no vector of numbers");
  EXPECT_NE(problem(Dirichlet(Value())), "");
  EXPECT_NE(problem(Dirichlet({1, kNaN})), "");
  const auto matrix = [](double a, double b, double c, double d) {
    return Value({a, b, c, d}, {2, 2});
  };
  EXPECT_EQ(problem(MultivariateNormal({0, 1}, matrix(1, 0.5, 0.5, 1))), "");
  EXPECT_EQ(problem(MultivariateNormal({0, 1}, matrix(1, 2, 2, 1))),
            "MultivariateNormal: covariance must be positive definite, not [1, 2, 2, 1]");
  EXPECT_EQ(problem(MultivariateNormal({0, 1}, matrix(1, 1, 1, 1))),
            "MultivariateNormal: covariance must be positive definite, not [1, 1, 1, 1]");
  EXPECT_EQ(problem(MultivariateNormal({0, 1}, matrix(1, 0.5, 0.4, 1))),
            "MultivariateNormal: covariance must be symmetric and finite, not [1, 0.5, 0.4, 1]");
  EXPECT_NE(problem(MultivariateNormal({0, 1}, matrix(kNaN, 0, 0, 1))), "");
  EXPECT_EQ(problem(MultivariateNormal({0, 1}, Value{1, 1})),
            "MultivariateNormal: covariance must be a matrix with a row and a column for each "
            "component of mean, not [1, 1]");
  EXPECT_NE(problem(MultivariateNormal({0, 1, 2}, matrix(1, 0, 0, 1))), "");
  EXPECT_NE(problem(MultivariateNormal(Value(), Value())), "");
  EXPECT_NE(problem(MultivariateNormal(Value(0.0), Value(1.0))), "");
  EXPECT_EQ(problem(MultivariateNormal({kNaN, 1}, matrix(1, 0, 0, 1))),
            "MultivariateNormal(mean=[nan, 1], cholesky=[1, 0, 1]): mean must be finite");
  EXPECT_EQ(problem(MultivariateNormal::from_cholesky({0, 1}, matrix(1, 0, 0.5, -1))),
            "MultivariateNormal(mean=[0, 1], cholesky=[1, 0.5, -1]): cholesky must be positive on "
            "its diagonal");
  EXPECT_EQ(problem(MultivariateNormal::from_cholesky({0, 1}, matrix(1, 0.5, 0, 1))),
            "MultivariateNormal: cholesky must be zero above the diagonal, not [1, 0.5, 0, 1]");
  EXPECT_NE(problem(make_distribution(family_of<MultivariateNormal>, {Value{0, 1}, Value{1, 1}})),
            "");
  EXPECT_EQ(problem(Mixture(Value{1, 1}, {Dirichlet({1, 1}), Normal(Value{0, 0}, 1)})),
            "Mixture: some components lie on the simplex, others do not");
  EXPECT_NE(problem(Categorical(Value())), "");
  EXPECT_NE(problem(Categorical(Value(1.0))), "");
  EXPECT_NE(problem(Categorical({0, 0})), "");
  EXPECT_NE(problem(Categorical({0.5, -0.1})), "");
  EXPECT_NE(problem(Categorical({0.5, kNaN})), "");
  EXPECT_NE(problem(Categorical({0.5, kInfinity})), "");
  EXPECT_NE(problem(Mixture(Value{1, 1}, {Normal(0, 1)})), "");
  EXPECT_NE(problem(Mixture(Value{1}, {Normal(0, -1)})), "");
  EXPECT_NE(problem(Mixture(Value{1, 1}, {Normal(0, 1), Normal(0, Value{1, 2})})), "");
  EXPECT_NE(problem(Mixture(Value(), {})), "");
}

TEST(Distribution, ShapeAndType) {
  const Distribution grid = Normal(Value({0, 0, 0, 0, 0, 0}, {3, 2}), 1);
  EXPECT_EQ(grid.shape(), (Shape{3, 2}));
  EXPECT_EQ(grid.size(), 6u);
  EXPECT_EQ(grid.type_name(), "Normal[3,2]");
  EXPECT_FALSE(grid.is_scalar());
  EXPECT_TRUE(Distribution(Normal(0, 1)).is_scalar());

  const Distribution coin = Categorical({0.3, 0.7});
  EXPECT_EQ(coin.shape(), Shape{});
  EXPECT_EQ(coin.type_name(), "Categorical(len_probs:2)");

  const Distribution coins = Categorical(Value({1, 1, 1, 3, 0, 1}, {3, 2}));
  EXPECT_EQ(coins.shape(), Shape{3});
  EXPECT_EQ(coins.categories(), 2u);
  EXPECT_EQ(coins.type_name(), "Categorical(len_probs:2)[3]");
  EXPECT_NEAR(coins.log_prob(Value{0, 1, 1}), std::log(0.5 * 0.75), 1e-15);
}

TEST(Distribution, ParametersOfAVectorThatHangsTogether) {
  const Value covariance({4, 2, 2, 10}, {2, 2});
  const Distribution by_covariance = MultivariateNormal({0, 1}, covariance);
  const Distribution by_factor =
      MultivariateNormal::from_cholesky({0, 1}, Value({2, 0, 1, 3}, {2, 2}));
  for (const Distribution& d : {by_covariance, by_factor}) {
    EXPECT_EQ(d.text(), "MultivariateNormal(mean=[0, 1], cholesky=[2, 1, 3])");
    EXPECT_EQ(d.variance(), (Value{4, 10}));
    EXPECT_EQ(d.shape(), Shape{2});
    EXPECT_EQ(d.type_name(), "MultivariateNormal[2]");
    const auto parameters = parameters_of(d);
    const Distribution again =
        make_distribution(d.family(), {parameters.begin(), parameters.end()});
    EXPECT_EQ(again.text(), d.text());
  }
  EXPECT_EQ(Distribution(Dirichlet({1, 2, 3})).type_name(), "Dirichlet[3]");
}

TEST(Distribution, FamilyNamesMatchTheVariant) {
  EXPECT_EQ(family_name(Distribution(Normal(0, 1)).family()), family::Normal::kName);
  EXPECT_EQ(family_name(Distribution(Weibull(1, 1)).family()), family::Weibull::kName);
  EXPECT_EQ(family_name(Distribution(TruncatedNormal(0, 1, 0, 1)).family()),
            family::TruncatedNormal::kName);
  EXPECT_EQ(family_name(Distribution(Binomial(1, 0.5)).family()), family::Binomial::kName);
  EXPECT_EQ(family_name(family_of<Mixture>), "Mixture");
}

TEST(Distribution, AVectorOfNormalsIsItsComponentsOneByOne) {
  std::vector<double> means, sds;
  for (int i = 0; i < 101; ++i) {
    means.push_back(i - 50);
    sds.push_back(std::exp(0.2 * (i - 50)));
  }
  for (const auto& [mean, sd] : {std::pair{Value(means), Value(sds)},
                                 {Value(means), Value(0.3)},
                                 {Value(2.5), Value(sds)}}) {
    const Distribution d = Normal(mean, sd);
    Rng together(3, 4), one_by_one(3, 4);
    const Value x = d.draw(together);
    ASSERT_EQ(x.size(), 101u);
    double log_prob = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const Distribution component =
          Normal(mean[mean.is_scalar() ? 0 : i], sd[sd.is_scalar() ? 0 : i]);
      EXPECT_EQ(component.draw(one_by_one)[0], x[i]);
      log_prob += component.log_prob(x[i]);
    }
    EXPECT_NEAR(d.log_prob(x), log_prob, 1e-9);
  }
}

TEST(Distribution, UnnormalisedProbabilities) {
  const Distribution d = Categorical({1, 1, 2});
  EXPECT_NEAR(d.log_prob(2.0), std::log(0.5), 1e-15);
  EXPECT_NEAR(d.mean().scalar(), 1.25, 1e-15);
}

TEST(Distribution, OutsideTheSupport) {
  EXPECT_EQ(Distribution(Uniform(0, 1)).log_prob(1.5), -kInfinity);
  EXPECT_EQ(Distribution(Poisson(3)).log_prob(1.5), -kInfinity);
  EXPECT_EQ(Distribution(Poisson(3)).log_prob(-1.0), -kInfinity);
  EXPECT_EQ(Distribution(Categorical({1, 1})).log_prob(2.0), -kInfinity);
  EXPECT_EQ(Distribution(Categorical({1, 0})).log_prob(1.0), -kInfinity);
  EXPECT_EQ(Distribution(Bernoulli(0.5)).log_prob(0.5), -kInfinity);
  EXPECT_EQ(Distribution(Binomial(3, 0.5)).log_prob(4.0), -kInfinity);
  EXPECT_EQ(Distribution(Gamma(2, 1)).log_prob(-1.0), -kInfinity);
  EXPECT_EQ(Distribution(TruncatedNormal(0, 1, 0, 1)).log_prob(-0.1), -kInfinity);
  EXPECT_EQ(Distribution(Dirichlet({1, 1, 1})).log_prob(Value{0.5, 0.6, -0.1}), -kInfinity);
  EXPECT_EQ(Distribution(Dirichlet({1, 1, 1})).log_prob(Value{0.3, 0.3, 0.3}), -kInfinity);
}

TEST(Distribution, WrongShapeIsAnError) {
  EXPECT_THROW(Distribution(Normal(0, 1)).log_prob(Value{1, 2}), ModelError);
  EXPECT_THROW(Distribution(Normal(Value{0, 1}, 1)).log_prob(1.0), ModelError);
  EXPECT_THROW(Distribution(Categorical({1, 1})).log_prob(Value{1, 1}), ModelError);
  EXPECT_THROW(Distribution(Dirichlet({1, 1})).log_prob(Value{0.2, 0.2, 0.6}), ModelError);
}

TEST(Distribution, DegenerateProbabilities) {
  Rng rng(1);
  EXPECT_EQ(Distribution(Bernoulli(1)).draw(rng).scalar(), 1);
  EXPECT_EQ(Distribution(Bernoulli(1)).log_prob(1.0), 0);
  EXPECT_EQ(Distribution(Binomial(5, 1)).draw(rng).scalar(), 5);
  EXPECT_EQ(Distribution(Binomial(5, 1)).log_prob(5.0), 0);
  EXPECT_EQ(Distribution(Binomial(0, 0.3)).log_prob(0.0), 0);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(Distribution(Categorical({0, 1, 0})).draw(rng).scalar(), 1);
  }
  // A shape so small that the draw underflows still has a finite density there.
  for (int i = 0; i < 100; ++i) {
    const Distribution tiny = Gamma(1e-3, 1);
    EXPECT_TRUE(std::isfinite(tiny.log_prob(tiny.draw(rng))));
    const Distribution edge = Beta(1e-3, 1e-3);
    EXPECT_TRUE(std::isfinite(edge.log_prob(edge.draw(rng))));
    const Distribution corner = Dirichlet({1e-3, 1e-3, 1e-3});
    EXPECT_TRUE(std::isfinite(corner.log_prob(corner.draw(rng))));
  }
}

TEST(Distribution, ExtremeParameters) {
  Rng rng(3);
  // Truncated far from the mean, very far, and a window that is narrow beside the spread.
  for (const Distribution& d : {Distribution(TruncatedNormal(0, 1e-60, 1, 2)),
                                Distribution(TruncatedNormal(0, 1, 1e8, 2e8)),
                                Distribution(TruncatedNormal(0, 1e20, -1, 1)),
                                Distribution(TruncatedNormal(0, 1e12, 1, 2))}) {
    const Support s = d.support();
    for (int i = 0; i < 100; ++i) {
      const double x = d.draw(rng);
      EXPECT_GE(x, s.low);
      EXPECT_LE(x, s.high);
      EXPECT_LT(d.log_prob(x), kInfinity) << d.text();
    }
  }
  EXPECT_NEAR(Distribution(TruncatedNormal(0, 1e20, -1, 1)).log_prob(0.3), std::log(0.5), 1e-9);
  for (const double a : {20.0, 300.0, 1e4, 1e6}) {  // the tail is nearly exponential with rate a
    const Distribution tail = TruncatedNormal(0, 1, a, kInfinity);
    EXPECT_NEAR((tail.mean().scalar() - a) * a, 1 - 2 / (a * a),
                20 / (a * a * a * a) + 1e-7 + 1e-15 * a * a);
    EXPECT_NEAR(tail.variance().scalar() * a * a, 1 - 6 / (a * a), 100 / (a * a * a * a) + 1e-7);
  }
  EXPECT_FALSE(Distribution(TruncatedNormal(0, 1e-160, 1, 2)).valid());
  EXPECT_FALSE(Distribution(Uniform(-1e308, 1e308)).valid());
  EXPECT_FALSE(Distribution(Categorical(Value({}, {0, 3}))).valid());
  for (int i = 0; i < 1000; ++i) {
    EXPECT_TRUE(std::isfinite(Distribution(LogNormal(0, 400)).draw(rng).scalar()));
    EXPECT_TRUE(std::isfinite(Distribution(Weibull(1, 1e-3)).draw(rng).scalar()));
  }
  // Large counts: log p at the mode is -log(sqrt(2 pi variance)).
  EXPECT_NEAR(Distribution(Poisson(1e15)).log_prob(1e15), -0.5 * std::log(2 * M_PI * 1e15), 1e-9);
  EXPECT_NEAR(Distribution(Binomial(4e15, 0.5)).log_prob(2e15), -0.5 * std::log(2 * M_PI * 1e15),
              1e-9);
  EXPECT_EQ(*kl_divergence(Binomial(0, 0.5), Binomial(0, 0)), 0);
  EXPECT_TRUE(std::isfinite(Distribution(LogNormal(-1000, std::sqrt(800.0))).variance().scalar()));
  EXPECT_NEAR(Distribution(Weibull(1, 1e8)).variance().scalar() * 1e16, M_PI * M_PI / 6, 1e-6);
}

TEST(Distribution, MixtureMoments) {
  const Distribution d = Mixture(Value{1, 3}, {Normal(0, 1), Normal(4, 2)});
  EXPECT_NEAR(d.mean().scalar(), 3, 1e-12);
  EXPECT_NEAR(d.variance().scalar(), 0.25 * (1 + 9) + 0.75 * (4 + 1), 1e-12);
  EXPECT_FALSE(kl_divergence(d, d).has_value());
}

TEST(Distribution, KlIsZeroOnlyToItself) {
  EXPECT_EQ(*kl_divergence(Normal(1, 2), Normal(1, 2)), 0);
  EXPECT_EQ(*kl_divergence(Uniform(0, 2), Uniform(0, 1)), kInfinity);
  EXPECT_FALSE(kl_divergence(Normal(0, 1), Uniform(0, 1)).has_value());
  EXPECT_EQ(*kl_divergence(Bernoulli(0), Bernoulli(0)), 0);
  EXPECT_EQ(*kl_divergence(Bernoulli(0.5), Bernoulli(0)), kInfinity);
  EXPECT_EQ(*kl_divergence(Categorical({1, 1}), Categorical({1, 0})), kInfinity);
}

}  // namespace
}  // namespace psn
