// Inference compilation on one latent of every family, against quadrature or enumeration.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "psn/core/in_process.h"
#include "tests/law/inference_fixture.h"
#include "tests/law/statistics.h"

namespace psn {
namespace {

// The posterior of x ~ family, y ~ Normal(x, noise) by quadrature or enumeration, for each family.
struct FamilyCase {
  const char* name;
  Distribution p;
  double noise, y;
};

class FamilyInference : public testing::TestWithParam<FamilyCase> {};

TEST_P(FamilyInference, AgainstQuadrature) {
  const auto& [name, p, noise, y] = GetParam();
  InProcess simulator({"one latent", [&](Context& ctx) {
                         const double x = ctx.sample(p, {.name = "x"});
                         ctx.observe(Normal(x, noise), {.name = "y"});
                         return Value(x);
                       }});
  const auto network = train(simulator, Purpose::kInference, 12'000);
  const auto posterior =
      compiled_inference(simulator, network, {{"y", Value(y)}}, engine_options(20'000, {{"x"}}));
  double total = 0, mean = 0, square = 0;
  const auto add = [&](double x, double step) {
    const double weight =
        step * std::exp(p.log_prob(x) + Distribution(Normal(x, noise)).log_prob(y));
    if (!(weight > 0)) return;
    total += weight;
    mean += weight * x;
    square += weight * x * x;
  };
  const Support support = p.support();
  if (p.discrete()) {
    for (double x = support.low; x <= std::min(support.high, 200.0); ++x) add(x, 1);
  } else {
    constexpr int kSteps = 200'000;
    const double low = std::max(support.low, y - 12 * noise),
                 high = std::min(support.high, y + 12 * noise);
    for (int i = 0; i < kSteps; ++i) {
      add(low + (high - low) * (i + 0.5) / kSteps, (high - low) / kSteps);
    }
  }
  mean /= total;
  expect_mean(posterior, "x", mean, std::sqrt(square / total - mean * mean));
  EXPECT_NEAR(posterior.log_evidence(), std::log(total),
              kStandardErrors / std::sqrt(posterior.effective_sample_size()));
  EXPECT_GT(posterior.effective_sample_size(), 12'000);
}

// Shares of which some draws are known, and a pair of numbers that hang together, measured with
// noise: by conjugacy.
TEST(JointFamilyInference, DirichletOfCategories) {
  const std::vector<double> prior{0.8, 2, 1.5};
  constexpr int kRolls = 6;
  InProcess simulator({"dice", [&](Context& ctx) {
                         const Value share = ctx.sample(Dirichlet(Value(prior)), {.name = "share"});
                         ctx.tag(share[0], {.name = "first"});
                         ctx.tag(share[2], {.name = "last"});
                         for (int i = 0; i < kRolls; ++i) {
                           ctx.observe(Categorical(share), {.name = "x", .index = i});
                         }
                       }});
  const auto network = train(simulator, Purpose::kInference, 12'000);
  const Value data{2, 2, 1, 2, 2, 0};
  const auto posterior = compiled_inference(simulator, network, {{"x", data}},
                                            engine_options(20'000, {{"first"}, {"last"}}));
  const std::vector<double> updated{1.8, 3, 5.5};
  const double total = 10.3;
  const auto expect = [&](const char* name, double concentration) {
    const double mean = concentration / total;
    expect_mean(posterior, name, mean, std::sqrt(mean * (1 - mean) / (total + 1)));
  };
  expect("first", updated[0]);
  expect("last", updated[2]);
  const auto log_beta_of = [](const std::vector<double>& a) {
    return log_gamma(a[0]) + log_gamma(a[1]) + log_gamma(a[2]) - log_gamma(a[0] + a[1] + a[2]);
  };
  EXPECT_NEAR(posterior.log_evidence(), log_beta_of(updated) - log_beta_of(prior),
              kStandardErrors / std::sqrt(posterior.effective_sample_size()));
  RecordProperty("ess", std::to_string(posterior.effective_sample_size()));
  EXPECT_GT(posterior.effective_sample_size(), 12'000);
}

TEST(JointFamilyInference, MultivariateNormalOfMeasurements) {
  const double s11 = 2, s12 = 1.2, s22 = 1, noise = 0.5;
  InProcess simulator(
      {"pair", [&](Context& ctx) {
         const Value covariance({s11, s12, s12, s22}, {2, 2});
         const Value x = ctx.sample(MultivariateNormal({0, 1}, covariance), {.name = "x"});
         ctx.tag(x[0], {.name = "first"});
         ctx.tag(x[1], {.name = "second"});
         ctx.observe(Normal(x, noise), {.name = "y"});
       }});
  const auto network = train(simulator, Purpose::kInference, 12'000);
  const Value data{1.5, 0.2};
  const auto posterior = compiled_inference(simulator, network, {{"y", data}},
                                            engine_options(20'000, {{"first"}, {"second"}}));
  const double v11 = s11 + noise * noise, v22 = s22 + noise * noise;
  const double determinant = v11 * v22 - s12 * s12;
  const double d0 = (v22 * data[0] - s12 * (data[1] - 1)) / determinant;
  const double d1 = (v11 * (data[1] - 1) - s12 * data[0]) / determinant;
  const double var0 = s11 - (s11 * s11 * v22 - 2 * s11 * s12 * s12 + s12 * s12 * v11) / determinant;
  const double var1 = s22 - (s12 * s12 * v22 - 2 * s12 * s12 * s22 + s22 * s22 * v11) / determinant;
  expect_mean(posterior, "first", s11 * d0 + s12 * d1, std::sqrt(var0));
  expect_mean(posterior, "second", 1 + s12 * d0 + s22 * d1, std::sqrt(var1));
  const Distribution evidence = MultivariateNormal({0, 1}, Value({v11, s12, s12, v22}, {2, 2}));
  EXPECT_NEAR(posterior.log_evidence(), evidence.log_prob(data),
              kStandardErrors / std::sqrt(posterior.effective_sample_size()));
  RecordProperty("ess", std::to_string(posterior.effective_sample_size()));
  EXPECT_GT(posterior.effective_sample_size(), 12'000);
}

INSTANTIATE_TEST_SUITE_P(
    Families, FamilyInference,
    testing::Values(FamilyCase{"Normal", Normal(1, 2), 0.5, 2.5},
                    FamilyCase{"Uniform", Uniform(-1, 3), 0.5, 2.8},
                    FamilyCase{"Beta", Beta(2, 5), 0.1, 0.5},
                    FamilyCase{"TruncatedNormal", TruncatedNormal(0, 2, 0, 3), 0.4, 0.3},
                    FamilyCase{"Exponential", Exponential(0.5), 0.5, 1.5},
                    FamilyCase{"Gamma", Gamma(3, 1), 0.5, 2.5},
                    FamilyCase{"LogNormal", LogNormal(0.5, 0.8), 0.5, 2.0},
                    FamilyCase{"Weibull", Weibull(2, 1.5), 0.5, 2.0},
                    FamilyCase{"Poisson", Poisson(4), 1.0, 5.5},
                    FamilyCase{"Binomial", Binomial(12, 0.4), 1.0, 6.3},
                    FamilyCase{"Categorical", Categorical({0.5, 0.3, 0.2}), 0.6, 1.4},
                    FamilyCase{"Bernoulli", Bernoulli(0.3), 0.5, 0.6},
                    FamilyCase{"StudentT", StudentT(4, 1, 1.5), 0.5, 2.5},
                    FamilyCase{"NegativeBinomial", NegativeBinomial(4, 3), 1.0, 5.5},
                    FamilyCase{"Geometric", Geometric(0.25), 1.0, 3.5},
                    FamilyCase{"Laplace", Laplace(1, 1.5), 0.5, 2.5},
                    FamilyCase{"Mixture", Mixture(Value{0.4, 0.6}, {Normal(-2, 0.5), Normal(1, 1)}),
                               0.7, -1.0}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace psn
