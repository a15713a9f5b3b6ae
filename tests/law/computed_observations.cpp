// Observations that a program computes: an inference network's own answer, a surrogate's learned
// density, and exact engines that refuse.
#include <gtest/gtest.h>

#include <cmath>

#include "psn/base/error.h"
#include "psn/core/in_process.h"
#include "psn/infer/metropolis.h"
#include "psn/nn/run/evaluate.h"
#include "psn/nn/run/surrogate.h"
#include "psn/train/gradient.h"
#include "psn/train/growth.h"
#include "psn/train/validation.h"
#include "tests/law/inference_fixture.h"
#include "tests/law/network_fixture.h"
#include "tests/law/statistics.h"

namespace psn {
namespace {

// Given y, both numbers of which are known exactly: a ~ N(.8 y0, .2), c ~ N(.9 y1, .1).
Model computing() {
  return {"computing", [](Context& ctx) {
            const double a = ctx.sample(Normal(0, 1), {.name = "a"});
            const double b = ctx.sample(Normal(0, 0.5), {.name = "b", .control = false});
            const double c = ctx.sample(Normal(0, 3), {.name = "c"});
            const double d = ctx.sample(Normal(0, 1), {.name = "d", .control = false});
            const Value y = ctx.observe_value(Value{a + b, c + d}, {.name = "y"});
            ctx.tag(y[0], {.name = "seen"});
          }};
}

const Observations kData{{"y", Value{1.5, -2.0}}};
const std::vector<Query> kQueries{{"a"}, {"c"}, {"seen"}};

std::shared_ptr<Network> trained(Purpose purpose, std::uint64_t traces) {
  InProcess simulator(computing());
  Preset chosen = preset("default", purpose);
  chosen.network.core_dim = 40;
  chosen.training.traces = traces;
  chosen.training.batch_size = 64;
  chosen.training.seed = 3;
  auto network = std::make_shared<Network>(chosen.network, 3);
  train_online(simulator, *network, chosen.training);
  return network;
}

class ComputedObservations : public ::testing::Test {
 protected:
  // Trained once.
  static void SetUpTestSuite() {
    inference_ = trained(Purpose::kInference, 30'000);
    surrogate_ = trained(Purpose::kSurrogate, 30'000);
  }
  static void TearDownTestSuite() {
    inference_.reset();
    surrogate_.reset();
  }
  static inline std::shared_ptr<Network> inference_, surrogate_;

  // How good a network is, is no law: the prior would be 1.2 and 1.8 away and twice as wide.
  static void expect_posterior(const Posterior& posterior) {
    EXPECT_NEAR(posterior.mean("a"), 1.2, 0.12);
    EXPECT_NEAR(posterior.mean("c"), -1.8, 0.25);
    EXPECT_NEAR(std::sqrt(posterior.variance("a")), std::sqrt(0.2), 0.12);
    EXPECT_NEAR(std::sqrt(posterior.variance("c")), std::sqrt(0.9), 0.25);
  }
};

TEST_F(ComputedObservations, AreTheNetworksOwnToAnswer) {
  InProcess simulator(computing());
  const auto guide = network_guide(compile(inference_), simulator, kData, {});
  const Posterior own = guided_draws(simulator, kData, engine_options(10'000, kQueries), guide);
  expect_posterior(own);
  EXPECT_DOUBLE_EQ(own.mean("seen"), 1.5);  // the program goes on with what was observed
}

TEST_F(ComputedObservations, HaveADensityInTheSurrogate) {
  SurrogateSimulator surrogate("s", surrogate_);
  const EngineOptions options = engine_options(40'000, kQueries);
  const Posterior weighted = importance_sampling(surrogate, kData, options);
  expect_posterior(weighted);
  // The surrogate's own posterior has one law, whoever proposes.
  const Posterior compiled = compiled_inference(surrogate, inference_, kData, options);
  EXPECT_GT(compiled.effective_sample_size(), 4 * weighted.effective_sample_size());
  for (const char* name : {"a", "c"}) {
    const double error =
        std::sqrt(weighted.variance(name) *
                  (1 / weighted.effective_sample_size() + 1 / compiled.effective_sample_size()));
    EXPECT_NEAR(compiled.mean(name), weighted.mean(name), kStandardErrors * error) << name;
  }
}

TEST_F(ComputedObservations, AreRefusedByWhoeverWeighs) {
  InProcess simulator(computing());
  const auto refused = [&](auto infer) {
    try {
      infer();
      FAIL();
    } catch (const ModelError& error) {
      EXPECT_NE(std::string(error.what()).find("'y__Observe__1'"), std::string::npos)
          << error.what();
      EXPECT_NE(std::string(error.what()).find("no density"), std::string::npos) << error.what();
    }
  };
  const EngineOptions options = engine_options(100, kQueries);
  refused([&] { importance_sampling(simulator, kData, options); });
  refused([&] { compiled_inference(simulator, inference_, kData, options); });
  MetropolisOptions chains;
  static_cast<EngineOptions&>(chains) = options;
  refused([&] { metropolis_hastings(simulator, kData, chains); });
  // What nobody observed does no harm.
  EXPECT_NEAR(importance_sampling(simulator, {}, engine_options(10'000, kQueries)).mean("a"), 0,
              kStandardErrors / 100);
  EXPECT_NEAR(metropolis_hastings(simulator, {}, chains).acceptance, 1, 1e-9);
}

// Training, evaluation and the simulator agree on what counts.
TEST_F(ComputedObservations, AreInNoDensityOfATrace) {
  InProcess simulator(computing());
  const auto traces = test::simulate(simulator, 200);
  const auto evaluated = log_prob(compile(surrogate_), traces, UnknownEvaluation::kZero);
  Network copy = *surrogate_;
  Growth growth(copy);
  growth.learn_names(traces);
  std::vector<double> log_s;
  const Batch batch = growth.flatten(traces);
  Gradient(copy).evaluate(batch, &log_s);
  for (std::size_t i = 0; i < traces.size(); ++i) EXPECT_NEAR(log_s[i], evaluated[i], 1e-3);
  EXPECT_LT(std::abs(validate(*surrogate_, traces).kl), 0.1);
  SurrogateSimulator surrogate("s", surrogate_);
  EXPECT_LT(std::abs(validate(*surrogate_, test::simulate(surrogate, 200)).kl), 0.1);
}

TEST_F(ComputedObservations, MeasuredInPartAreComputedForTheRest) {
  InProcess simulator(computing());
  const Observations part{{"y", Value{1.5, kNaN}}};
  const Posterior own =
      guided_draws(simulator, part, engine_options(2'000, {{"seen"}, {"y", {2}}}), prior_guide());
  EXPECT_DOUBLE_EQ(own.mean("seen"), 1.5);
  EXPECT_DOUBLE_EQ(own.variance("y", 0), 0);
  EXPECT_NEAR(own.variance("y", 1), 10, kStandardErrors * 10 * std::sqrt(2 / 2000.0));
}

}  // namespace
}  // namespace psn
