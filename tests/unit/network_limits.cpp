// What a network takes, its file can be read with.
#include <gtest/gtest.h>

#include "psn/base/error.h"
#include "psn/infer/importance.h"
#include "psn/nn/network_file.h"
#include "psn/train/trainer.h"
#include "tests/law/network_fixture.h"
#include "tests/unit/random_programs.h"

namespace psn {
namespace {

// Some of the programs have what no network takes: that is said by address.
TEST(NetworkLimits, WhateverANetworkTakesIsRead) {
  std::size_t refused = 0, nodes = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    InProcess simulator(test::random_model(seed));
    const auto config = test::small_config(static_cast<Addressing>(seed % 3), 1);
    const NetworkFile file{std::make_shared<Network>(config, seed), "{}"};
    const auto grow = [&](std::uint64_t, Trace& trace) {
      for (const Entry& entry : trace.entries) {
        if (!entry.distribution || file.network->find(*entry.address)) continue;
        try {
          const NodeId id = file.network->add_node(*entry.address, entry);
          file.network->set_bounds(id, bounds_of(*entry.distribution));
        } catch (const InvalidArgument& error) {
          EXPECT_TRUE(std::string(error.what()).starts_with("'n")) << error.what();
          ++refused;
        }
      }
    };
    run_traces(simulator, 2, prior_guide(), grow, {.keep_distributions = true}, {1, 1});
    nodes += file.network->size();
    const std::string bytes = serialize_network(file);
    EXPECT_EQ(serialize_network(parse_network(bytes, "file")), bytes);
  }
  EXPECT_GT(refused, 5u);
  EXPECT_GT(nodes, 200u);
}

// A program may have more addresses than there is memory for layers of each.
TEST(NetworkLimits, OfTheMemoryThatANetworkTakes) {
  InProcess simulator(Model("m", [](Context& ctx) {
    for (int i = 0; i < 1000; ++i) ctx.sample(Normal(0, 1), {.name = "x" + std::to_string(i)});
  }));
  TrainOptions options;
  options.traces = 4;
  options.batch_size = 2;
  const auto learn = [&](std::size_t mb) {
    options.network_memory_mb = mb;
    Network network(test::small_config(), 1);
    train_online(simulator, network, options);
    return network.parameters().bytes();
  };
  const std::size_t bytes = learn(0);
  ASSERT_GT(bytes, 4'000'000u);
  EXPECT_EQ(learn(bytes / 1'000'000 + 1), bytes);
  try {
    learn(bytes / 1'000'000 - 1);
    ADD_FAILURE() << "it was not refused";
  } catch (const ModelError& error) {
    EXPECT_NE(std::string(error.what()).find("`network_memory`"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("the last one 'x"), std::string::npos) << error.what();
  }
}

// A covariance has outputs by the square of the components, so a surrogate takes fewer of them; an
// inference network, which proposes, takes as many as of any vector. A mixture on the simplex has
// no head.
TEST(NetworkLimits, OfVectorsThatHangTogether) {
  const auto learn = [](const Distribution& d, Purpose purpose) -> std::string {
    InProcess simulator(Model("m", [&](Context& ctx) { ctx.sample(d, {.name = "x"}); }));
    NetworkConfig config = test::small_config();
    config.purpose = purpose;
    Network network(config, 1);
    try {
      run_traces(simulator, 1, prior_guide(),
                 [&](std::uint64_t, Trace& trace) {
                   network.add_node(*trace.entries[0].address, trace.entries[0]);
                 },
                 {.keep_distributions = true}, {1, 1});
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "";
  };
  std::vector<double> unit(513 * 513);
  for (std::size_t i = 0; i < 513; ++i) unit[i * 514] = 1;
  const Distribution large =
      MultivariateNormal(Value(std::vector<double>(513)), Value(unit, {513, 513}));
  EXPECT_EQ(learn(large, Purpose::kSurrogate),
            "'x__MultivariateNormal[513]__1': a MultivariateNormal of 513 components; a surrogate "
            "takes 512 at most");
  EXPECT_EQ(learn(large, Purpose::kInference), "");
  const Distribution shares = Mixture({1, 1}, {Dirichlet({1, 1}), Dirichlet({2, 1})});
  EXPECT_EQ(learn(shares, Purpose::kSurrogate),
            "'x__Mixture[2]__1': a mixture of distributions on the simplex cannot be learned yet");
  EXPECT_FALSE(has_proposal(shares));
}

}  // namespace
}  // namespace psn
