// What training must keep: Theorem 1, agreement with execution, determinism; and when it must stop.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "psn/base/error.h"
#include "psn/base/numerics.h"
#include "psn/core/in_process.h"
#include "psn/nn/run/evaluate.h"
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

// What a training of 5,000 traces says that fails.
std::string failure_of(Simulator& simulator, Network& network, double explosion) {
  TrainOptions options = quick(5000);
  options.validation_traces = 0;
  options.explosion = explosion;
  try {
    train_online(simulator, network, options);
  } catch (const ModelError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Trainer, StopsAtALossThatIsNotFiniteAndKeepsWhatItHad) {
  // A value that the head turns into an infinite loss: a Weibull far in its tail.
  int calls = 0;
  InProcess simulator({"tail", [&calls](Context& ctx) {
                         ++calls;
                         ctx.sample(Weibull(calls > 600 ? 1e300 : 1.0, 2.0), {.name = "w"});
                       }});
  Network network(small(), 4);
  const std::string error = failure_of(simulator, network, kInfinity);
  EXPECT_NE(error.find("batch 4"), std::string::npos) << error;
  EXPECT_NE(error.find("w__Weibull"), std::string::npos) << error;
  Parameters& p = network.parameters();
  EXPECT_EQ(p.step, 2u);  // checkpoints: before batches 1, 2, 4, 8, ...; batch 4 is the bad one
  EXPECT_LT(network.node(2).scaling.scale[0], 100);
  for (BlockId id = 0; id < p.block_count(); ++id) {
    for (std::size_t i = 0; i < std::size_t{p.block(id).rows} * p.block(id).columns; ++i) {
      ASSERT_TRUE(std::isfinite(p.values(id)[i]));
    }
  }
}

// A tag is an entry of the batch alone, which is gone by then.
TEST(Trainer, NamesATagWhoseLossIsNotFinite) {
  int calls = 0;
  InProcess simulator({"tagged", [&calls](Context& ctx) {
                         const double x = ctx.sample(Normal(0, 1), {.name = "x"}).scalar();
                         ctx.tag(++calls > 600 ? 1e300 : x, {.name = "far"});
                       }});
  NetworkConfig config = small();
  config.tags = true;
  Network network(config, 4);
  const std::string error = failure_of(simulator, network, kInfinity);
  EXPECT_NE(error.find("address 'far__"), std::string::npos) << error;
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
  const std::string error = failure_of(simulator, network, quick(5000).explosion);
  EXPECT_NE(error.find("exploded"), std::string::npos) << error;
  EXPECT_NE(error.find("batch 4 "), std::string::npos) << error;
  EXPECT_NE(error.find("'culprit__Normal__1'"), std::string::npos) << error;
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
