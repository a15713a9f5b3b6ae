// Proposals of an inference network: each is a normalised density, its draws follow it, and its
// gradient is that of its logarithm.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "psn/core/free_coordinates.h"
#include "psn/nn/heads/proposal.h"
#include "tests/law/quadrature.h"

namespace psn {
namespace {

struct ProposalCase {
  const char* name;
  Distribution p;
  Value x;
};

std::vector<ProposalCase> cases() {
  return {
      {"normal", Normal(1.5, 0.7), 2.0},
      {"uniform", Uniform(-1, 3), 0.5},
      {"beta", Beta(2, 5), 0.35},
      {"truncated_normal", TruncatedNormal(0.5, 1.0, -1.0, 2.0), 0.9},
      {"half_line", TruncatedNormal(0.5, 1.0, 0.0, kInfinity), 0.9},
      {"exponential", Exponential(2.5), 0.6},
      {"gamma", Gamma(3.0, 2.0), 1.1},
      {"log_normal", LogNormal(0.3, 0.6), 1.7},
      {"weibull", Weibull(1.5, 2.0), 1.2},
      {"poisson", Poisson(4.2), 6.0},
      {"binomial", Binomial(10, 0.4), 3.0},
      {"student_t", StudentT(5, 1.5, 0.7), 2.0},
      {"negative_binomial", NegativeBinomial(4.2, 3), 6.0},
      {"geometric", Geometric(0.2), 6.0},
      {"certain_success", Geometric(1.0), 0.0},
      {"laplace", Laplace(1.5, 0.7), 2.0},
      {"categorical", Categorical({0.2, 0.5, 0.3}), 2.0},
      {"impossible_category", Categorical({0.2, 0.0, 0.8}), 2.0},
      {"one_category", Categorical({0.7}), 0.0},
      {"bernoulli", Bernoulli(0.3), 1.0},
      {"certain", Bernoulli(1.0), 1.0},
      {"no_trials", Binomial(0, 0.4), 0.0},
      {"mixture", Mixture(Value{0.3, 0.7}, {Normal(-1, 0.5), Normal(2, 1)}), 0.4},
      {"normal_vector", Normal(Value{1, 2, -1}, Value{0.5, 1.5, 2}), Value{0.5, 3, 0}},
      {"dirichlet", Dirichlet({0.6, 2, 3.5}), Value{0.1, 0.3, 0.6}},
      {"dirichlet_of_two", Dirichlet({1.5, 0.8}), Value{0.2, 0.8}},
      {"multivariate_normal", MultivariateNormal({1, 2}, Value({1, 0.7, 0.7, 2}, {2, 2})),
       Value{0.5, 3}},
      {"categorical_rows", Categorical(Value({0.2, 0.8, 0.6, 0.4}, {2, 2})), Value{1, 0}},
  };
}

class Proposals : public testing::TestWithParam<ProposalCase> {
 protected:
  Proposals() {
    const Distribution& p = GetParam().p;
    type_ =
        proposal_type({p.family(), p.shape(), static_cast<std::uint32_t>(p.categories()), 0}, 3);
    Rng rng(7);
    for (std::size_t i = 0; i < type_.outputs(); ++i) {
      outputs_.push_back(static_cast<float>(0.7 * rng.normal()));
    }
  }

  double log_q(const Value& x, const std::vector<float>& outputs, float* gradient = nullptr) const {
    const Distribution& p = GetParam().p;
    return proposal_log_prob(type_, p, outputs.data(), x, p.log_prob(x), gradient);
  }

  // The integral (or sum) of f q over the support of a scalar, by the midpoint rule on a grid that
  // reaches as far as anything counts.
  double expectation(const std::function<double(double)>& f) const {
    const Distribution& p = GetParam().p;
    const Support support = p.support();
    double sum = 0;
    if (p.discrete()) {
      const double last = std::min(support.high, 400.0);
      for (double x = support.low; x <= last; ++x) {
        const double log_density = log_q(x, outputs_);
        if (log_density > -kInfinity) sum += f(x) * std::exp(log_density);
      }
      return sum;
    }
    const bool positive = support.low == 0 && support.high == kInfinity;
    const double low = positive ? -40 : std::max(support.low, -40.0);
    const double high = positive ? 12 : std::min(support.high, 60.0);
    constexpr int kSteps = 40'000;
    const double step = (high - low) / kSteps;
    for (int i = 0; i < kSteps; ++i) {
      const double u = low + (i + 0.5) * step;
      const double x = positive ? std::exp(u) : u;  // a half-line on the scale of logarithms
      sum += f(x) * std::exp(log_q(x, outputs_)) * step * (positive ? x : 1);
    }
    return sum;
  }

  ProposalType type_;
  std::vector<float> outputs_;
};

// Those whose densities a test can integrate by one number.
class ScalarProposals : public Proposals {};

std::vector<ProposalCase> scalar_cases() {
  std::vector<ProposalCase> result = cases();
  std::erase_if(result, [](const ProposalCase& c) { return !c.p.is_scalar(); });
  return result;
}

// And those of vectors whose components hang together.
class JointProposals : public Proposals {};

std::vector<ProposalCase> joint_cases() {
  std::vector<ProposalCase> result = cases();
  std::erase_if(
      result, [](const ProposalCase& c) { return !degrees_of_freedom(c.p.family(), c.p.size()); });
  return result;
}

TEST_P(Proposals, GradientIsThatOfTheLogarithm) {
  std::vector<float> gradient(outputs_.size());
  log_q(GetParam().x, outputs_, gradient.data());
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const auto loss_at = [&](float o) {
      std::vector<float> moved = outputs_;
      moved[i] = o;
      return -log_q(GetParam().x, moved);
    };
    const float high = outputs_[i] + 1e-3f, low = outputs_[i] - 1e-3f;
    const double expected = (loss_at(high) - loss_at(low)) / (double{high} - low);
    EXPECT_NEAR(gradient[i], expected, 1e-4 * (1 + std::abs(expected))) << "output " << i;
  }
}

TEST_P(ScalarProposals, AreNormalised) {
  EXPECT_NEAR(expectation([](double) { return 1.0; }), 1, 1e-5);
}

// The first two moments of tanh and the share above the model's mean: 5 standard errors of 20,000
// draws, three comparisons, one false alarm in 600,000 seeds.
TEST_P(ScalarProposals, DrawsFollowTheDensity) {
  const Distribution& p = GetParam().p;
  const double middle = p.mean();
  const std::function<double(double)> functions[] = {
      [](double x) { return std::tanh(x); }, [](double x) { return std::tanh(x) * std::tanh(x); },
      [=](double x) { return x > middle ? 1.0 : 0.0; }};
  constexpr int kDraws = 20'000;
  Rng rng(11);
  std::vector<double> draws(kDraws);
  for (double& x : draws) {
    x = proposal_draw(type_, p, outputs_.data(), rng);
    ASSERT_GT(p.log_prob(x), -kInfinity) << x;
  }
  for (const auto& f : functions) {
    double sum = 0;
    for (const double x : draws) sum += f(x);
    const double mean = expectation(f);
    const double square = expectation([&](double x) { return f(x) * f(x); });
    const double error = std::sqrt(std::max(0.0, square - mean * mean) / kDraws);
    EXPECT_NEAR(sum / kDraws, mean, 5 * error + 1e-4);
  }
}

// Weights are exact if both densities are over the same volume: q integrates to one over that of p.
TEST_P(JointProposals, AreNormalised) {
  const Distribution& p = GetParam().p;
  EXPECT_NEAR(
      integrate_vectors(p, 500, 30, [&](const Value& x) { return std::exp(log_q(x, outputs_)); }),
      1, 1e-5);
}

// Importance weights turn the draws of a vector's proposal into draws of the model: E[p/q f] = E f.
TEST_P(Proposals, WeightsLeadBackToTheModel) {
  const Distribution& p = GetParam().p;
  constexpr int kDraws = 40'000;
  Rng rng(12);
  std::vector<double> sum(p.size()), squares(p.size());
  for (int i = 0; i < kDraws; ++i) {
    const Value x = proposal_draw(type_, p, outputs_.data(), rng);
    const double weight = std::exp(p.log_prob(x) - log_q(x, outputs_));
    for (std::size_t k = 0; k < x.size(); ++k) {
      const double term = weight * (x[k] - p.mean()[k]);
      sum[k] += term;
      squares[k] += term * term;
    }
  }
  for (std::size_t k = 0; k < sum.size(); ++k) {
    EXPECT_NEAR(sum[k] / kDraws, 0, 5 * std::sqrt(squares[k]) / kDraws + 1e-12);
  }
}

INSTANTIATE_TEST_SUITE_P(Families, Proposals, testing::ValuesIn(cases()),
                         [](const auto& test) { return test.param.name; });
INSTANTIATE_TEST_SUITE_P(Families, ScalarProposals, testing::ValuesIn(scalar_cases()),
                         [](const auto& test) { return test.param.name; });

INSTANTIATE_TEST_SUITE_P(Families, JointProposals, testing::ValuesIn(joint_cases()),
                         [](const auto& test) { return test.param.name; });

// A part whose mass is so close to an end that rounding would put draws on it.
TEST(Proposal, StaysOffEndsWhereTheModelIsInfinite) {
  const Distribution p = Beta(0.5, 0.5);
  const ProposalType type = proposal_type({p.family(), p.shape(), 0, 0}, 1);
  for (const float toward : {-54.0f, 54.0f}) {
    const std::vector<float> outputs{-100, 0, toward, -18};
    Rng rng(4);
    for (int i = 0; i < 2000; ++i) {
      ASSERT_LT(p.log_prob(proposal_draw(type, p, outputs.data(), rng)), kInfinity);
    }
  }
}

// Variances that overflow or vanish. Half of the draws come from the model itself, so weights are
// at most 2, and their mean over 20,000 draws has a standard error below 0.01: one false alarm in
// 1.7 million seeds for each case.
TEST(Proposal, WeightsAreRightForExtremeModels) {
  const Distribution models[] = {
      Normal(1e200, 1e200),
      Normal(0, 1e-170),
      Uniform(-8e307, 8e307),
      Weibull(1, 0.02),
      Poisson(1e-300),
      Poisson(1e9),
      Binomial(5, 0.0),
      Beta(0.05, 0.05),
      Dirichlet({0.05, 0.02, 0.9}),
      Dirichlet({1e7, 1e7}),
      MultivariateNormal({0, 1e9}, Value({1, 1 - 1e-9, 1 - 1e-9, 1}, {2, 2}))};
  for (const Distribution& p : models) {
    const ProposalType type = proposal_type({p.family(), p.shape(), 0, 0}, 1);
    std::vector<float> outputs{0, 0, 0.7f, -1.3f, 0.3f, -0.8f, 0.5f};
    ASSERT_LE(type.outputs(), outputs.size());
    outputs.resize(type.outputs());
    constexpr int kDraws = 20'000;
    Rng rng(6);
    double sum = 0;
    for (int i = 0; i < kDraws; ++i) {
      const Value x = proposal_draw(type, p, outputs.data(), rng);
      const double log_p = p.log_prob(x);
      sum += std::exp(log_p - proposal_log_prob(type, p, outputs.data(), x, log_p));
    }
    EXPECT_NEAR(sum / kDraws, 1, 0.05) << p.text();
  }
}

TEST(Proposal, StaysFiniteForExtremeOutputs) {
  for (const ProposalCase& c : cases()) {
    const ProposalType type = proposal_type(
        {c.p.family(), c.p.shape(), static_cast<std::uint32_t>(c.p.categories()), 0}, 3);
    Rng rng(3);
    for (int round = 0; round < 50; ++round) {
      std::vector<float> outputs(type.outputs()), gradient(type.outputs());
      for (float& o : outputs) o = static_cast<float>(60 * rng.normal());
      const Value x = proposal_draw(type, c.p, outputs.data(), rng);
      for (const Value& at : {x, c.p.draw(rng)}) {
        const double log_p = c.p.log_prob(at);
        const double log_q =
            proposal_log_prob(type, c.p, outputs.data(), at, log_p, gradient.data());
        EXPECT_FALSE(std::isnan(log_q)) << c.name;
        EXPECT_LT(log_q, kInfinity) << c.name;
        for (const float g : gradient) EXPECT_TRUE(std::isfinite(g)) << c.name;
      }
    }
  }
}

}  // namespace
}  // namespace psn
