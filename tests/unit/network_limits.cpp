// What a network takes, its file can be read with.
#include <gtest/gtest.h>

#include "psn/base/error.h"
#include "psn/infer/importance.h"
#include "psn/nn/network_file.h"
#include "tests/law/network_fixture.h"
#include "tests/unit/random_programs.h"

namespace psn {
namespace {

// Some of the programs have what no network takes: that is said by address.
TEST(NetworkLimits, WhateverANetworkTakesIsRead) {
  std::size_t refused = 0, nodes = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    InProcess simulator(testing::random_model(seed));
    const auto config = testing::small_config(static_cast<Addressing>(seed % 3), 1);
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

}  // namespace
}  // namespace psn
