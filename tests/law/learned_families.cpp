// Every family is learned on a small program whose parameters depend on an earlier value.
#include <gtest/gtest.h>

#include <cmath>

#include "psn/core/in_process.h"
#include "psn/train/trainer.h"

namespace psn {
namespace {

NetworkConfig small() {
  NetworkConfig config;
  config.core_dim = 24;
  config.variable_layers = {2, 24};
  config.transition_hidden_dim = 24;
  return config;
}

TrainOptions quick() {
  TrainOptions options = preset("default").training;
  options.traces = 100'000;
  options.batch_size = 128;
  options.rate.learning_rate = 5e-3;
  options.seed = 1;
  options.validation_traces = 5000;
  return options;
}

// Training is short (100,000 traces); the thresholds are what it reached, with room. Left to its
// prior, i.e. without the dependence, each program has a KL of 0.1 or more.
struct FamilyCase {
  const char* name;
  std::function<Distribution(double)> family;
  double threshold;
};

class Families : public testing::TestWithParam<FamilyCase> {};

TEST_P(Families, AreLearned) {
  const auto& family = GetParam().family;
  InProcess simulator({"family", [&family](Context& ctx) {
                         const double a = ctx.sample(Uniform(0, 1), {.name = "a"});
                         ctx.sample(family(a), {.name = "y"});
                       }});
  Network network(small(), 2);
  const Progress result = train_online(simulator, network, quick());
  ASSERT_TRUE(result.validation);
  RecordProperty("kl", std::to_string(result.validation->kl));
  EXPECT_LT(result.validation->kl, GetParam().threshold + 3 * result.validation->standard_error);
  EXPECT_GT(result.validation->kl, -4 * result.validation->standard_error - 1e-4);
  std::printf("%s: %.4f +- %.4f\n", GetParam().name, result.validation->kl,
              result.validation->standard_error);
}

// The smallest programs there are. One variable: its family's own parameters, so next to nothing is
// left. An address that is only sometimes the last: left to chance, the KL would be 0.3.
TEST(SmallPrograms, AreLearned) {
  const auto kl = [](std::function<Value(Context&)> program) {
    InProcess simulator({"small", std::move(program)});
    Network network(small(), 2);
    const Validation result = *train_online(simulator, network, quick()).validation;
    EXPECT_EQ(result.unseen, 0u);
    EXPECT_GT(result.kl, -4 * result.standard_error - 1e-4);
    return result.kl - 3 * result.standard_error;
  };
  EXPECT_LT(kl([](Context& ctx) { return ctx.sample(Gamma(2, 3), {.name = "only"}); }), 0.001);
  EXPECT_LT(kl([](Context& ctx) -> Value {
              const auto a = ctx.sample(Uniform(0, 1), {.name = "a"});
              return a.scalar() < 0.4 ? a : ctx.sample(Normal(a.scalar(), 1), {.name = "b"});
            }),
            0.03);
}

INSTANTIATE_TEST_SUITE_P(
    All, Families,
    testing::Values(
        FamilyCase{"normal", [](double a) { return Normal(3 * a, 0.2 + a); }, 0.005},
        FamilyCase{"normal_far", [](double a) { return Normal(1000 + 3 * a, 0.5); }, 0.005},
        FamilyCase{"normal_vector",
                   [](double a) {
                     return Normal(Value{a, -3 * a, 1}, Value{0.5, 0.5, 0.2 + a});
                   },
                   0.005},
        FamilyCase{"uniform", [](double a) { return Uniform(0, 1 + 2 * a); }, 0.04},
        FamilyCase{"categorical",
                   [](double a) {
                     return Categorical({0.05 + a, 1 - a, 0.5});
                   },
                   0.005},
        FamilyCase{"poisson", [](double a) { return Poisson(0.5 + 8 * a); }, 0.005},
        FamilyCase{"bernoulli", [](double a) { return Bernoulli(0.02 + 0.96 * a); }, 0.005},
        FamilyCase{"beta", [](double a) { return Beta(1 + 5 * a, 6 - 5 * a); }, 0.005},
        FamilyCase{"exponential", [](double a) { return Exponential(0.3 + 4 * a); }, 0.005},
        FamilyCase{"gamma", [](double a) { return Gamma(1 + 4 * a, 1 + a); }, 0.005},
        FamilyCase{"log_normal", [](double a) { return LogNormal(2 * a, 0.5); }, 0.005},
        FamilyCase{"binomial", [](double a) { return Binomial(10, 0.1 + 0.8 * a); }, 0.005},
        FamilyCase{"weibull", [](double a) { return Weibull(1 + 3 * a, 1 + a); }, 0.005},
        FamilyCase{"truncated_normal",
                   [](double a) { return TruncatedNormal(2 * a, 0.5, -1.0, 2.0); }, 0.005},
        FamilyCase{"student_t", [](double a) { return StudentT(3 + 3 * a, 3 * a, 0.2 + a); },
                   0.005},
        FamilyCase{"negative_binomial",
                   [](double a) { return NegativeBinomial(1 + 10 * a, 1 + 3 * a); }, 0.005},
        FamilyCase{"geometric", [](double a) { return Geometric(0.05 + 0.9 * a); }, 0.005},
        FamilyCase{"laplace", [](double a) { return Laplace(3 * a, 0.2 + a); }, 0.005},
        FamilyCase{"dirichlet",
                   [](double a) {
                     return Dirichlet({1 + 4 * a, 2, 5 - 4 * a});
                   },
                   0.005},
        FamilyCase{"multivariate_normal",
                   [](double a) {
                     return MultivariateNormal::from_cholesky(
                         {3 * a, -a}, Value({0.3 + a, 0, 2 * a - 1, 0.5}, {2, 2}));
                   },
                   0.005},
        FamilyCase{"mixture",
                   [](double a) {
                     return Mixture(Value{0.3, 0.7}, {Normal(-2.0, 0.5), Normal(2 * a, 0.5)});
                   },
                   0.015}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace psn
