// What training must keep: Adam's state across growth, Theorem 1, determinism; and what it must
// reach on small programs.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "psn/base/error.h"
#include "psn/base/numerics.h"
#include "psn/core/in_process.h"
#include "psn/nn/evaluate.h"
#include "psn/train/stream.h"
#include "psn/train/trainer.h"

namespace psn {
namespace {

// A loop whose index is part of the name: the number of addresses is unbounded.
Value looping(Context& ctx) {
  const double a = ctx.sample(Normal(0, 1), {.name = "a"});
  for (int i = 0;; ++i) {
    const auto go_on = ctx.sample(Bernoulli(1 / (1 + std::exp(-a))), {.name = "b", .index = i});
    if (go_on.integer() == 0) break;
  }
  return a;
}

std::vector<Trace> traces_of(Simulator& simulator, std::size_t count, std::uint64_t seed = 5) {
  TraceStream stream(simulator, {.seed = seed, .count = count});
  std::vector<Trace> traces;
  stream.take(count, traces);
  return traces;
}

NetworkConfig small(std::string_view core = "lstm") {
  NetworkConfig config;
  config.core = core;
  config.core_dim = 24;
  config.variable_layers = {2, 24};
  config.transition_hidden_dim = 24;
  return config;
}

// ---- Adam ----

// The gradient of step s at element i of a row: anything.
float gradient_at(std::uint64_t step, std::size_t i) {
  return std::sin(static_cast<float>(step * 31 + i * 7 + 1));
}

void fill_gradient(Parameters& p, BlockId id, std::uint64_t step) {
  const Block& block = p.block(id);
  for (std::size_t i = 0; i < std::size_t{block.rows} * block.columns; ++i) {
    p.gradients(id)[i] = gradient_at(step, i);
  }
}

// Kingma and Ba's algorithm, to the letter.
double reference_adam(std::size_t i, std::uint64_t first_step, std::uint64_t last_step) {
  double m = 0, v = 0, value = 0;
  for (std::uint64_t s = first_step; s <= last_step; ++s) {
    const double g = gradient_at(s, i), t = static_cast<double>(s - first_step + 1);
    m = 0.9 * m + 0.1 * g;
    v = 0.999 * v + 0.001 * g * g;
    value -= 0.01 * (m / (1 - std::pow(0.9, t))) / (std::sqrt(v / (1 - std::pow(0.999, t))) + 1e-8);
  }
  return value;
}

TEST(AdamLaw, RowsSurviveGrowthAndNewOnesStartFresh) {
  for (const bool touched_only : {false, true}) {
    Parameters grows, never;
    const BlockId a = grows.add(3, 7), b = never.add(3, 7);
    AdamOptions options;
    options.touched_only = touched_only;
    Adam for_grows(options), for_never(options);
    for (std::uint64_t s = 1; s <= 20; ++s) {
      if (s == 11) grows.append_rows(a, 2);  // moves the block
      fill_gradient(grows, a, s);
      fill_gradient(never, b, s);
      for_grows.update(grows, 0.01, {a});
      for_never.update(never, 0.01, {b});
    }
    EXPECT_EQ(0, std::memcmp(grows.values(a), never.values(b), 21 * sizeof(float)));
    EXPECT_EQ(0, std::memcmp(grows.first_moments(a), never.first_moments(b), 21 * sizeof(float)));
    EXPECT_EQ(0, std::memcmp(grows.second_moments(a), never.second_moments(b), 21 * sizeof(float)));
    for (std::size_t i = 0; i < 35; ++i) {
      const double expected = reference_adam(i, i < 21 ? 1 : 11, 20);
      EXPECT_NEAR(grows.values(a)[i], expected, 2e-5) << i;
    }
  }
}

TEST(AdamLaw, MissedStepsDoNotCountWhenOnlyTouchedBlocksMove) {
  Parameters p;
  const BlockId always = p.add(1, 4), rarely = p.add(2, 4);
  AdamOptions options;
  options.touched_only = true;
  Adam adam(options);
  std::uint64_t touched = 0;
  for (std::uint64_t s = 1; s <= 30; ++s) {
    fill_gradient(p, always, s);
    std::vector<BlockId> blocks{always};
    if (s % 7 == 0) {
      fill_gradient(p, rarely, ++touched);
      blocks.push_back(rarely);
    }
    adam.update(p, 0.01, blocks);
  }
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_NEAR(p.values(rarely)[i], reference_adam(i, 1, touched), 2e-5);
  }
}

// In an order of its own: sixteen lanes of doubles, and then the rest.
TEST(AdamLaw, TheNormIsTheSameSumEverywhere) {
  Parameters p;
  const BlockId id = p.add(1, 1003);
  fill_gradient(p, id, 1);
  double lanes[16] = {}, sum = 0;
  for (std::size_t i = 0; i < 992; ++i) {
    lanes[i % 16] += static_cast<double>(p.gradients(id)[i]) * p.gradients(id)[i];
  }
  for (const double lane : lanes) sum += lane;
  for (std::size_t i = 992; i < 1003; ++i) {
    sum += static_cast<double>(p.gradients(id)[i]) * p.gradients(id)[i];
  }
  EXPECT_EQ(Adam({}).update(p, 0.01, {id}), std::sqrt(sum));
}

TEST(AdamLaw, ClipsTheWholeGradientAndRefusesNaN) {
  Parameters p;
  const BlockId id = p.add(1, 2);
  AdamOptions options;
  options.clip_norm = 1;
  Adam adam(options);
  p.gradients(id)[0] = 30;
  p.gradients(id)[1] = 40;
  EXPECT_NEAR(adam.update(p, 0.01, {id}), 50, 1e-4);
  EXPECT_NEAR(p.first_moments(id)[0], 0.1 * 0.6, 1e-6);
  const float before = p.values(id)[0];
  p.gradients(id)[0] = std::nanf("");
  EXPECT_TRUE(std::isnan(adam.update(p, 0.01, {id})));
  EXPECT_EQ(p.values(id)[0], before);
}

// ---- Theorem 1 ----

class Cores : public testing::TestWithParam<std::string_view> {};
INSTANTIATE_TEST_SUITE_P(All, Cores, testing::ValuesIn(core_names().begin(), core_names().end()),
                         [](const auto& test) { return std::string(test.param); });

void train_a_little(Network& network, const std::vector<Trace>& traces, int updates) {
  Growth growth(network);
  growth.absorb(traces);
  const Batch batch = growth.flatten(traces);
  Gradient gradient(network);
  Adam adam({});
  for (int i = 0; i < updates; ++i) {
    gradient.compute(batch, Loss::kNegativeLogLikelihood);
    adam.update(network.parameters(), 1e-2, gradient.touched());
  }
}

// Known traces keep their probability when others bring new addresses and transitions, for new
// networks and for trained ones; and what is new then shares the unknown mass.
TEST_P(Cores, GrowthKeepsTheProbabilityOfKnownTraces) {
  InProcess simulator({"looping", looping});
  const std::vector<Trace> known = traces_of(simulator, 40, 1), more = traces_of(simulator, 400, 2);
  Network network(small(GetParam()), 3);
  for (int round = 0; round < 3; ++round) {
    train_a_little(network, known, round * 20);
    Growth growth(network);
    growth.learn_names(known);
    std::vector<double> before, after;
    Gradient(network).evaluate(growth.flatten(known), &before);
    Network grown = network;
    Growth more_growth(grown);
    more_growth.learn_names(more);
    EXPECT_GT(more_growth.unseen(), 0u);
    EXPECT_GT(grown.transition_count(), network.transition_count());
    more_growth.learn_names(known);
    EXPECT_EQ(more_growth.unseen(), 0u);
    Gradient(grown).evaluate(more_growth.flatten(known), &after);
    for (std::size_t i = 0; i < known.size(); ++i) EXPECT_NEAR(before[i], after[i], 1e-5);
  }
}

// Probabilities of a node's transitions for one input of its last layer.
std::vector<double> transition_probabilities(const Network& network, NodeId from,
                                             const std::vector<float>& input) {
  const BlockId id = network.node(from).transition;
  const Block& block = network.parameters().block(id);
  std::vector<double> logits(block.rows);
  for (std::size_t row = 0; row < block.rows; ++row) {
    const float* w = network.parameters().values(id) + row * block.columns;
    logits[row] = w[block.columns - 1];
    for (std::size_t j = 0; j + 1 < block.columns; ++j) logits[row] += double{w[j]} * input[j];
  }
  const double log_z = log_sum_exp(logits);
  for (double& l : logits) l = std::exp(l - log_z);
  return logits;
}

// One of thirty addresses: any of them could be followed by many others.
Value thirty(Context& ctx) {
  const auto which = ctx.sample(Categorical(Value(std::vector<double>(30, 1.0))), {.name = "i"});
  return ctx.sample(Normal(which.scalar(), 1), {.name = "v", .index = which.integer()});
}

// K new transitions at once, at every address, for random inputs, before and after training.
TEST(Theorem1, KnownProbabilitiesAndTheUnknownMassStay) {
  InProcess simulator({"thirty", thirty});
  const std::vector<Trace> known = traces_of(simulator, 60, 1);
  Rng rng(3);
  for (std::size_t k = 1; k <= 20; ++k) {
    Network network(small(), k);
    train_a_little(network, known, k % 2 ? 0 : 10);
    for (int round = 0; round < 2; ++round) {
      const Network before = network;
      int with_k = 0;
      for (NodeId from = 0; from < network.size(); ++from) {
        if (from == Network::kEnd) continue;
        std::vector<Place> to;
        for (NodeId id = 2; id < network.size() && to.size() < k; ++id) {
          if (!network.node(from).rows_to.contains(id)) to.push_back({id});
        }
        network.add_successors(from, to);
        with_k += to.size() == k;
        std::vector<float> input(network.transition_inputs(network.node(from)));
        for (float& x : input) x = static_cast<float>(2 * rng.normal());
        const auto old = transition_probabilities(before, from, input);
        const auto now = transition_probabilities(network, from, input);
        ASSERT_EQ(now.size(), old.size() + to.size());
        double unknown = now[0];
        for (std::size_t i = old.size(); i < now.size(); ++i) unknown += now[i];
        EXPECT_NEAR(unknown, old[0], 1e-6);
        for (std::size_t i = 1; i < old.size(); ++i) EXPECT_NEAR(now[i], old[i], 1e-6);
      }
      EXPECT_GT(with_k, round == 0 ? 20 : -1);
      train_a_little(network, known, 5);
    }
  }
}

// ---- The executor ----

// What training computes and what runs are two programs; they agree on a network that has grown
// and been trained, before and after it grows again.
TEST_P(Cores, ExecutionAgreesWithTraining) {
  for (const Addressing addressing : {Addressing::kInstance, Addressing::kSite}) {
    for (const std::size_t depth : {1, 2}) {
      InProcess simulator({"looping", looping});
      NetworkConfig config = small(GetParam());
      config.addressing = addressing;
      config.core_depth = depth;
      Network network(config, 3);
      for (const std::uint64_t seed : {1, 2, 3}) {
        const std::vector<Trace> traces = traces_of(simulator, 50 * seed, seed);
        if (seed < 3) train_a_little(network, traces, 20);
        Growth growth(network);
        growth.learn_names(traces);
        std::vector<double> trained;
        Gradient(network).evaluate(growth.flatten(traces), &trained);
        const auto compiled =
            std::make_shared<const CompiledNetwork>(std::make_shared<Network>(network));
        const auto run = log_prob(compiled, traces, UnknownEvaluation::kZero);
        for (std::size_t i = 0; i < traces.size(); ++i) {
          EXPECT_NEAR(run[i], trained[i], 1e-5 * std::max(1.0, std::abs(run[i])));
        }
      }
    }
  }
}

// Far beyond what a cache or a block of work begins with, and with traces of all lengths.
TEST_P(Cores, ExecutionAgreesWithTrainingOnLongTraces) {
  InProcess simulator({"long", [](Context& ctx) {
                         const auto length = ctx.sample(Poisson(100), {.name = "length"});
                         for (int i = 0; i < length.integer(); ++i) {
                           ctx.sample(Normal(0, 1), {.name = "x"});
                         }
                       }});
  NetworkConfig config = small(GetParam());
  config.addressing = Addressing::kShared;
  config.core_depth = 2;
  Network network(config, 3);
  const std::vector<Trace> traces = traces_of(simulator, 20);
  train_a_little(network, traces, 5);
  Growth growth(network);
  growth.learn_names(traces);
  std::vector<double> trained;
  Gradient(network).evaluate(growth.flatten(traces), &trained);
  const auto compiled = std::make_shared<const CompiledNetwork>(std::make_shared<Network>(network));
  const auto run = log_prob(compiled, traces, UnknownEvaluation::kZero);
  for (std::size_t i = 0; i < traces.size(); ++i) {
    EXPECT_NEAR(run[i], trained[i], 1e-5 * std::max(1.0, std::abs(run[i])));
  }
}

// ---- The trainer ----

TrainOptions quick(std::uint64_t traces) {
  TrainOptions options = preset("default").training;
  options.traces = traces;
  options.batch_size = 128;
  options.rate.learning_rate = 5e-3;
  options.seed = 1;
  options.validation_traces = 5000;
  return options;
}

TEST(Trainer, SameSeedSameParametersBitForBit) {
  std::vector<std::vector<float>> results;
  for (const std::size_t threads : {1, 2, 1}) {
    InProcess simulator({"looping", looping});
    Network network(small(), 4);
    TrainOptions options = quick(3000);
    options.simulation = {threads == 1 ? 64u : 7u, threads};
    options.validation_traces = 100;
    options.validate_every = 10;
    train_online(simulator, network, options);
    std::vector<float> all;
    Parameters& p = network.parameters();
    for (BlockId id = 0; id < p.block_count(); ++id) {
      all.insert(all.end(), p.values(id),
                 p.values(id) + std::size_t{p.block(id).rows} * p.block(id).columns);
    }
    results.push_back(std::move(all));
  }
  for (std::size_t i = 1; i < results.size(); ++i) {
    ASSERT_EQ(results[0].size(), results[i].size());
    EXPECT_EQ(0,
              std::memcmp(results[0].data(), results[i].data(), results[0].size() * sizeof(float)));
  }
}

TEST(Trainer, StopsAtALossThatIsNotFiniteAndKeepsWhatItHad) {
  // A value that the head turns into an infinite loss: a Weibull far in its tail.
  int calls = 0;
  InProcess simulator({"tail", [&calls](Context& ctx) {
                         ++calls;
                         ctx.sample(Weibull(calls > 600 ? 1e300 : 1.0, 2.0), {.name = "w"});
                       }});
  Network network(small(), 4);
  TrainOptions options = quick(5000);
  options.validation_traces = 0;
  options.explosion = kInfinity;
  try {
    train_online(simulator, network, options);
    FAIL() << "no error";
  } catch (const ModelError& error) {
    EXPECT_NE(std::string(error.what()).find("batch 4"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("w__Weibull"), std::string::npos) << error.what();
  }
  Parameters& p = network.parameters();
  EXPECT_EQ(p.step, 2u);  // checkpoints: before batches 1, 2, 4, 8, ...; batch 4 is the bad one
  EXPECT_LT(network.node(2).scaling.scale[0], 100);
  for (BlockId id = 0; id < p.block_count(); ++id) {
    for (std::size_t i = 0; i < std::size_t{p.block(id).rows} * p.block(id).columns; ++i) {
      ASSERT_TRUE(std::isfinite(p.values(id)[i]));
    }
  }
}

// A loss that is finite but beyond reason: back to a checkpoint, and the address that did it is
// named, not another one of the batch.
TEST(Trainer, GoesBackWhenTheLossExplodes) {
  int calls = 0;
  InProcess simulator({"outlier", [&calls](Context& ctx) {
                         const bool bad = ++calls > 600;
                         ctx.sample(Normal(0, 1), {.name = "before"});
                         ctx.sample(Normal(bad ? 1e12 : 0.0, 1.0), {.name = "culprit"});
                         ctx.sample(Normal(0, 1), {.name = "after"});
                       }});
  Network network(small(), 4);
  TrainOptions options = quick(5000);
  options.validation_traces = 0;
  try {
    train_online(simulator, network, options);
    FAIL() << "no error";
  } catch (const ModelError& error) {
    EXPECT_NE(std::string(error.what()).find("exploded"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("batch 4 "), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("'culprit__Normal__1'"), std::string::npos)
        << error.what();
  }
  EXPECT_EQ(network.parameters().step, 2u);
}

TEST(Trainer, AnErrorOfTheSimulatorEndsIt) {
  InProcess simulator(
      {"broken", [](Context& ctx) { ctx.sample(Normal(0, ctx.sample(Normal(0, 1)).scalar())); }});
  Network network(small(), 4);
  EXPECT_THROW(train_online(simulator, network, quick(1000)), ModelError);
}

TEST(Trainer, RefusesImpossibleOptions) {
  InProcess simulator({"looping", looping});
  Network network(small(), 4);
  TrainOptions options = quick(1000);
  options.batch_size = 0;
  EXPECT_THROW(train_online(simulator, network, options), InvalidArgument);
  options = quick(1000);
  options.rate.learning_rate = -1;
  EXPECT_THROW(train_online(simulator, network, options), InvalidArgument);
  EXPECT_THROW(preset("best"), InvalidArgument);
}

TEST(Trainer, ATimeLimitEndsIt) {
  InProcess simulator({"looping", looping});
  Network network(small(), 4);
  TrainOptions options = quick(1'000'000'000);
  options.seconds = 0.3;
  options.validation_traces = 0;
  EXPECT_LT(train_online(simulator, network, options).seconds, 5);
}

}  // namespace
}  // namespace psn
