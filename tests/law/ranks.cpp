// Several ranks that train one network must do what one process does: the same growth, node for
// node, the same updates but for the order of sums, and the same bits on every rank.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "experiments/control_flow/control_flow.h"
#include "psn/base/error.h"
#include "psn/core/in_process.h"
#include "psn/train/rank_checks.h"
#include "psn/train/trainer.h"
#include "tests/law/indexed_programs.h"
#include "tests/law/network_fixture.h"
#include "tests/law/thread_ranks.h"

namespace psn {
namespace {

using test::on_ranks;
using test::ThreadCommunicator;

NetworkConfig small_network(Purpose purpose = Purpose::kSurrogate) {
  NetworkConfig config;
  config.purpose = purpose;
  config.core_dim = 24;
  config.variable_layers = {2, 24};
  config.transition_hidden_dim = 24;
  return config;
}

TrainOptions recipe(const char* name, std::uint64_t batches, std::size_t batch_size = 64) {
  TrainOptions options = preset(name).training;
  options.batch_size = batch_size;
  options.traces = batches * batch_size;
  options.seed = 11;
  options.progress_every = 1;
  return options;
}

// What is left of a training: on each rank the network, on rank 0 the loss of every batch.
struct Trained {
  std::vector<Network> networks;
  std::vector<double> losses;
};

// Each rank has a simulator, and so a table of addresses, of its own.
Trained train(const Model& model, const NetworkConfig& config, const TrainOptions& options,
              std::uint32_t count) {
  Trained result{std::vector<Network>(count, Network(config, 3)), {}};
  on_ranks(count, [&](ThreadCommunicator& ranks) {
    TrainOptions own = options;
    own.ranks = &ranks;
    InProcess simulator(model);
    train_online(simulator, result.networks[ranks.rank()], own, [&](const Progress& progress) {
      if (ranks.leads()) result.losses.push_back(progress.loss);
    });
  });
  return result;
}

void expect_same_vocabulary(const Network& a, const Network& b) {
  ASSERT_EQ(a.size(), b.size());
  for (NodeId id = 0; id < a.size(); ++id) {
    const Node &x = a.node(id), &y = b.node(id);
    EXPECT_EQ(x.text, y.text);
    EXPECT_EQ(x.name, y.name);
    EXPECT_EQ(x.successors, y.successors) << x.text;
    EXPECT_EQ(x.range, y.range) << x.text;
    EXPECT_EQ(x.scaling.location, y.scaling.location) << x.text;
    EXPECT_EQ(x.scaling.scale, y.scaling.scale) << x.text;
    EXPECT_EQ(x.scaling.low, y.scaling.low) << x.text;
    EXPECT_EQ(x.scaling.high, y.scaling.high) << x.text;
    EXPECT_EQ(x.scaling.bounds_vary, y.scaling.bounds_vary) << x.text;
    EXPECT_EQ(x.may_be_missing, y.may_be_missing) << x.text;
  }
  EXPECT_EQ(a.tally(), b.tally());
}

// `tolerance`: of a loss below 1 in nats, of others relative.
void expect_like_one_process(const Model& model, const NetworkConfig& config,
                             const TrainOptions& options, double tolerance = 1e-4) {
  const Trained alone = train(model, config, options, 1);
  ASSERT_GT(alone.losses.size(), 20u);
  for (const std::uint32_t count : {2u, 4u}) {
    SCOPED_TRACE(count);
    const Trained shared = train(model, config, options, count);
    ASSERT_EQ(shared.losses.size(), alone.losses.size());
    for (std::size_t i = 0; i < alone.losses.size(); ++i) {
      const double loss = alone.losses[i];
      EXPECT_NEAR(shared.losses[i], loss, tolerance * std::max(1.0, loss)) << "batch " << i;
    }
    expect_same_vocabulary(shared.networks[0], alone.networks[0]);
    for (const Network& network : shared.networks) {
      EXPECT_EQ(network.parameters().checksum(), shared.networks[0].parameters().checksum());
      expect_same_vocabulary(network, shared.networks[0]);
    }
  }
}

TEST(Ranks, LearnControlFlowLikeOneProcess) {
  expect_like_one_process(control_flow::model(), small_network(), recipe("default", 100));
}

// A loop whose index is part of the name: addresses appear to the end. Bounds vary.
Value looping_program(Context& ctx) {
  const double a = ctx.sample(Normal(0, 1), {.name = "a"});
  for (int i = 0;; ++i) {
    const double u = ctx.sample(Uniform(-i, 2 + std::abs(a)), {.name = "u", .index = i});
    const auto go_on = ctx.sample(Bernoulli(1 / (1 + std::exp(-u))), {.name = "b", .index = i});
    if (go_on.integer() == 0) break;
  }
  return a;
}

TEST(Ranks, LearnUnboundedAddressesWithEveryAddressing) {
  for (const Addressing addressing :
       {Addressing::kInstance, Addressing::kSite, Addressing::kShared}) {
    NetworkConfig config = small_network();
    config.addressing = addressing;
    expect_like_one_process({"looping_program", looping_program}, config, recipe("paper", 40, 32));
  }
}

TEST(Ranks, FindTheSameFewTransitionsToSharedIndices) {
  NetworkConfig config = small_network();
  config.addressing = Addressing::kShared;
  for (const test::IndexedProgram& program : test::indexed_programs()) {
    SCOPED_TRACE(program.model.name);
    // Gradients that cancel but for rounding move Adam by a whole step, one way or the other: a
    // process alone whose weights differ by 2e-7 at the start ends up as far off.
    expect_like_one_process(program.model, config, recipe("paper", 25, 16), 1e-3);
  }
}

TEST(Ranks, LearnWithEveryCore) {
  for (const std::string_view core : core_names()) {
    NetworkConfig config = small_network();
    config.core = core;
    expect_like_one_process({"looping_program", looping_program}, config, recipe("default", 30, 32),
                            1e-3);
  }
}

// The plan is made of the first thousand traces of all ranks together, in their order. What
// rounding does to losses of 70 nats (see above) is relative: a process alone that computes its
// batches in parts ends up .0004 of them off.
TEST(Ranks, CountTheSame) {
  NetworkConfig config = small_network();
  config.addressing = Addressing::kShared;
  config.tally = true;
  const TrainOptions options = recipe("default", 30, 48);
  expect_like_one_process(test::events(), config, options, 1e-3);
  const Network network = train(test::events(), config, options, 4).networks[3];
  ASSERT_TRUE(network.tally());
  EXPECT_GT(network.tally_inputs(), 20u);
}

// A batch that not all ranks have a part of.
TEST(Ranks, ShareTheLastBatchAsFarAsItGoes) {
  TrainOptions options = recipe("default", 30, 32);
  options.traces -= 27;
  expect_like_one_process({"looping_program", looping_program}, small_network(), options);
}

// One observation is in every trace, another in some; both are withheld at times.
Value observing(Context& ctx) {
  const double a = ctx.sample(Normal(0, 1), {.name = "a"});
  ctx.observe(Normal(a, 0.5), {}, {.name = "always"});
  if (a > -1) ctx.observe(Normal(2 * a, 0.5), {}, {.name = "often"});
  return a;
}

TEST(Ranks, LearnAnInferenceNetworkLikeOneProcess) {
  TrainOptions options = recipe("default", 40, 32);
  expect_like_one_process({"observing", observing}, small_network(Purpose::kInference), options);
  options.missing = 0.3;
  expect_like_one_process({"observing", observing}, small_network(Purpose::kInference), options);
}

Value failing(Context& ctx) {
  const double a = ctx.sample(Normal(0, 1), {.name = "a"});
  if (a > 3) throw std::runtime_error("too large");
  return a;
}

TEST(Ranks, AllEndWithTheErrorOfOne) {
  std::vector<std::string> errors(4);
  on_ranks(4, [&](ThreadCommunicator& ranks) {
    TrainOptions options = recipe("default", 100);
    options.ranks = &ranks;
    Network network(small_network(), 3);
    InProcess simulator({"failing", failing});
    try {
      train_online(simulator, network, options);
    } catch (const ModelError& error) {
      errors[ranks.rank()] = error.what();
    }
  });
  EXPECT_NE(errors[0].find("too large"), std::string::npos) << errors[0];
  EXPECT_NE(errors[0].find("rank "), std::string::npos) << errors[0];
  for (const std::string& error : errors) EXPECT_EQ(error, errors[0]);
}

TEST(Ranks, AllStopWhenOneIsToldTo) {
  std::vector<std::uint64_t> batches(3);
  Monitor monitor;
  on_ranks(3, [&](ThreadCommunicator& ranks) {
    TrainOptions options = recipe("default", 100, 48);
    options.ranks = &ranks;
    if (ranks.rank() == 1) options.monitor = &monitor;
    Network network(small_network(), 3);
    InProcess simulator({"looping_program", looping_program});
    const Progress last = train_online(simulator, network, options, [&](const Progress& now) {
      if (ranks.rank() == 1 && now.batches == 5) monitor.stop = true;
    });
    batches[ranks.rank()] = last.batches;
  });
  EXPECT_LT(batches[0], 10u);
  EXPECT_EQ(batches[1], batches[0]);
  EXPECT_EQ(batches[2], batches[0]);
}

TEST(Ranks, NetworksThatDifferAreNamed) {
  std::string message;
  on_ranks(3, [&](ThreadCommunicator& ranks) {
    Network network(small_network(), 3);
    EXPECT_NO_THROW(require_same(ranks, network.parameters()));
    if (ranks.rank() == 2) network.parameters().values(0)[5] += 1e-6f;
    try {
      require_same(ranks, network.parameters());
    } catch (const Error& error) {
      if (ranks.leads()) message = error.what();
    }
  });
  EXPECT_NE(message.find("rank 2 "), std::string::npos) << message;
}

TEST(Ranks, ABatchMustBeDivisible) {
  TrainOptions options = recipe("default", 10, 50);
  EXPECT_THROW(train({"looping_program", looping_program}, small_network(), options, 4),
               InvalidArgument);
}

// When nothing is new, the ranks say so in a few bytes.
Value plain(Context& ctx) {
  const auto i = ctx.sample(Categorical({0.2, 0.3, 0.5}), {.name = "i"});
  return ctx.sample(Categorical({0.5, 0.5}), {.name = "j", .index = i.integer()});
}

TEST(Ranks, SayLittleWhenNothingIsNew) {
  on_ranks(2, [&](ThreadCommunicator& ranks) {
    InProcess simulator({"plain", plain});
    TraceStream stream(simulator, {.seed = 1, .count = 200});
    std::vector<Trace> traces;
    stream.take(200, traces);
    Network network(small_network(), 3);
    Growth growth(network);
    growth.apply(exchange(ranks, growth.look(traces), network.config()));
    const std::uint64_t first = ranks.sent;
    growth.apply(exchange(ranks, growth.look(traces), network.config()));
    EXPECT_GT(first, 500u);
    EXPECT_LE(ranks.sent - first, 64u);
  });
}

}  // namespace
}  // namespace psn
