// Tags and results that a surrogate learns: functions of its own latents, as in the program; in no
// density; and exact after the correction to the simulator.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "psn/base/error.h"
#include "psn/core/in_process.h"
#include "psn/infer/correction.h"
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

// total ~ N(0, 5), and given y it is N(5 / 5.25 y, 5 - 25 / 5.25).
Model tagged() {
  return {"tagged", [](Context& ctx) {
            const double a = ctx.sample(Normal(0, 1), {.name = "a"});
            const double b = ctx.sample(Normal(0, 1), {.name = "b"});
            ctx.tag(a + 2 * b, {.name = "total"});
            if (a > 0) ctx.tag(Value{a, 100 * b}, {.name = "pair"});
            ctx.observe(Normal(a + 2 * b, 0.5), {.name = "y"});
            return Value(3 - b);
          }};
}

std::shared_ptr<Network> trained(std::uint64_t traces, Addressing addressing) {
  InProcess simulator(tagged());
  Preset chosen = preset("default", Purpose::kSurrogate);
  chosen.network.core_dim = 40;
  chosen.network.addressing = addressing;
  chosen.network.tags = true;
  chosen.training.traces = traces;
  chosen.training.batch_size = 8;
  chosen.training.seed = 3;
  auto network = std::make_shared<Network>(chosen.network, 3);
  train_online(simulator, *network, chosen.training);
  return network;
}

class LearnedTags : public ::testing::Test {
 protected:
  // Trained once.
  static void SetUpTestSuite() { network_ = trained(24'000, Addressing::kShared); }
  static void TearDownTestSuite() { network_.reset(); }
  static inline std::shared_ptr<Network> network_;
};

// Root mean square of a tag's distance from the function that it is, in units of its spread.
struct Distance {
  double squares = 0, size = 0;
  void add(double difference, double spread) {
    squares += difference * difference / (spread * spread);
    ++size;
  }
  double value() const { return std::sqrt(squares / size); }
};

TEST_F(LearnedTags, AreTheFunctionsThatTheyAre) {
  SurrogateSimulator surrogate("s", network_);
  Distance total, first, second, result;
  std::size_t right = 0;
  const auto traces = test::simulate(surrogate, 4'000);
  for (const Trace& trace : traces) {
    const double a = trace["a"].scalar(), b = trace["b"].scalar();
    total.add(trace["total"].scalar() - (a + 2 * b), std::sqrt(5.0));
    result.add(trace.result.scalar() - (3 - b), 1);
    right += (trace.find("pair") != nullptr) == (a > 0);
    if (!trace.find("pair") || a < 0) continue;
    first.add(trace["pair"][0] - a, 0.6);
    second.add(trace["pair"][1] - 100 * b, 100);
  }
  // Constants would be 1 off.
  EXPECT_LT(total.value(), 0.2);
  EXPECT_LT(result.value(), 0.25);
  EXPECT_LT(first.value(), 0.3);
  EXPECT_LT(second.value(), 0.3);
  EXPECT_GT(right, 3'800u);
}

// What runs of the surrogate count, what its path has, and what is evaluated of the whole agree;
// and so do training and evaluation, of the simulator's traces.
TEST_F(LearnedTags, AreInNoDensity) {
  SurrogateSimulator surrogate("s", network_);
  auto traces = test::simulate(surrogate, 200);
  const auto whole = log_prob(surrogate.compiled(), traces, UnknownEvaluation::kRenormalise);
  for (std::size_t i = 0; i < traces.size(); ++i) {
    const auto& transitions = traces[i].transitions;
    const double path = std::accumulate(transitions.begin(), transitions.end(), 0.0);
    EXPECT_NEAR(whole[i], path + traces[i].log_joint, 1e-3);
    EXPECT_GT(path, -5);
  }
  InProcess simulator(tagged());
  traces = test::simulate(simulator, 200);
  const auto evaluated = log_prob(surrogate.compiled(), traces, UnknownEvaluation::kZero);
  Network copy = *network_;
  Growth growth(copy);
  growth.learn_names(traces);
  std::vector<double> log_s;
  const Batch batch = growth.flatten(traces);
  Gradient(copy).evaluate(batch, &log_s);
  for (std::size_t i = 0; i < traces.size(); ++i) EXPECT_NEAR(log_s[i], evaluated[i], 1e-3);
  // Close to the simulator, whose tags have no density either.
  EXPECT_LT(validate(*network_, traces).kl, 0.5);
}

// A network that ignores tags sees the same choices, and is the network that it was before there
// were any to learn.
TEST_F(LearnedTags, CanBeLeftOut) {
  InProcess simulator(tagged());
  const auto network = train(simulator, Purpose::kSurrogate, 640);
  EXPECT_EQ(network->size(), 5u);  // begin, end, a, b, y
  SurrogateSimulator surrogate("s", network);
  for (const Trace& trace : test::simulate(surrogate, 50)) {
    EXPECT_EQ(trace.entries.size(), 3u);
    EXPECT_TRUE(trace.result.empty());
  }
}

// Two engines on the surrogate's own posterior, in which tags are drawn anew in each run.
TEST_F(LearnedTags, HaveOneLawInAllEngines) {
  SurrogateSimulator surrogate("s", network_);
  const Observations data{{"y", Value(2.0)}};
  MetropolisOptions options;
  static_cast<EngineOptions&>(options) = engine_options(60'000, {{"a"}, {"b"}, {"total"}});
  options.burn_in = 500;
  options.random_walk = true;
  const Posterior chains = metropolis_hastings(surrogate, data, options).posterior;
  const Posterior weighted = importance_sampling(surrogate, data, options);
  for (const char* name : {"a", "b", "total"}) {
    const double sd = std::sqrt(weighted.variance(name));
    const double error = sd * std::sqrt(1 / effective_sample_size(chains, name) +
                                        1 / weighted.effective_sample_size());
    EXPECT_NEAR(chains.mean(name), weighted.mean(name), kStandardErrors * error) << name;
  }
}

TEST_F(LearnedTags, AreExactAfterTheCorrection) {
  InProcess simulator(tagged());
  SurrogateSimulator surrogate("s", network_);
  const Observations data{{"y", Value(2.0)}};
  EngineOptions options = engine_options(40'000, {});
  options.keep_traces = true;
  const Posterior own = importance_sampling(surrogate, data, options);
  const Query result{"result", {}, [](const Trace& trace) { return trace.result; }};
  const Correction corrected =
      correct_to_simulator(simulator, data, own, engine_options(10'000, {{"total"}, result}));
  const double gain = 5 / 5.25;
  const double ess = corrected.effective_sample_size;
  ASSERT_GT(ess, 300);
  EXPECT_NEAR(corrected.posterior.mean("total"), gain * 2,
              kStandardErrors * std::sqrt(5 - 5 * gain) / std::sqrt(ess));
  // b is 0.4 of total, and 1 / 5 of variance besides.
  EXPECT_NEAR(corrected.posterior.mean("result"), 3 - 0.4 * gain * 2,
              kStandardErrors * std::sqrt(1.0 / std::min(ess, 1e4)));
}

void expect_refused(const Model& model, const std::string& part) {
  InProcess simulator(model);
  auto config = test::small_config();
  config.tags = true;
  Network network(config, 1);
  Growth growth(network);
  try {
    growth.absorb(test::simulate(simulator, 50));
    FAIL() << part;
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST(TagsThatCannotBeLearned, AreSaid) {
  expect_refused({"lengths",
                  [](Context& ctx) {
                    const auto n = ctx.sample(Bernoulli(0.5), {.name = "n"}).integer();
                    ctx.tag(n ? Value{1, 2} : Value{1, 2, 3}, {.name = "t"});
                  }},
                 "numbers in one trace and");
  expect_refused({"infinite",
                  [](Context& ctx) {
                    ctx.tag(1 / (ctx.sample(Bernoulli(0.5), {.name = "n"}).scalar()),
                            {.name = "t"});
                  }},
                 "finite");
  expect_refused(
      {"weighs",
       [](Context& ctx) { ctx.factor(ctx.sample(Normal(0, 1), {.name = "a"}).scalar()); }},
      "state it as an observation");
}

}  // namespace
}  // namespace psn
