// Growth of a network: Algorithm 1 and Theorem 1, and changes of scaling that change nothing else.
#include "psn/nn/network.h"

#include <gtest/gtest.h>

#include <numeric>

#include "psn/base/error.h"
#include "psn/nn/math.h"
#include "psn/nn/packed_matrix.h"
#include "tests/law/network_fixture.h"

namespace psn {
namespace {

using namespace test;

// Runs a trace through the network and collects all transition probabilities and log densities.
struct Probabilities {
  std::vector<std::vector<double>> transitions;  // [0] unknown, then successors, for each step
  std::vector<double> values;
};

Probabilities along(const Network& network, const Trace& trace) {
  ScalarNetwork scalar(network);
  Probabilities result{{softmax(scalar.logits())}, {}};
  for (const Entry& entry : trace.entries) {
    if (!is_choice(entry)) continue;
    const auto outputs = scalar.step(*network.find(*entry.address), entry.address->instance,
                                     entry.address->variable->index);
    const Node& node = scalar.node();
    result.values.push_back(
        head_distribution(node.value, node.scaling, outputs.data()).log_prob(entry.value));
    result.transitions.push_back(softmax(scalar.logits(entry.value)));
  }
  return result;
}

// Theorem 1. The trace's values are the random inputs.
TEST(Growth, KeepsKnownProbabilitiesAndTheUnknownMass) {
  InProcess simulator(control_flow::model());
  const auto traces = simulate(simulator, 200, 9);
  for (std::size_t k = 1; k <= 20; ++k) {
    Network network(small_config(k % 2 ? Addressing::kInstance : Addressing::kShared), k);
    grow(network, traces);
    shake(network, 0.3, k);
    const Network before = network;
    // K more addresses, each at an index of its own, then transitions to all of them from every
    // known one.
    const Entry like = traces[0].entries[0];
    std::vector<Place> added;
    AddressTable table;
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(k); ++i) {
      const std::string base = "new" + std::to_string(i);
      const auto* variable =
          table.variable({.base = base, .type = like.address->variable->site->type, .index = i});
      const NodeId node = network.add_node(*table.address(variable, 1), like);
      added.push_back(network.shares_indices() ? Place{node, Base::kLast, i} : Place{node});
    }
    for (NodeId id = 0; id < before.size(); ++id) {
      if (id != Network::kEnd) network.add_successors(id, added);
    }
    for (std::size_t t = 0; t < 20; ++t) {
      const Probabilities old = along(before, traces[t]), now = along(network, traces[t]);
      for (std::size_t s = 0; s < old.transitions.size(); ++s) {
        const auto& p = old.transitions[s];
        const auto& q = now.transitions[s];
        ASSERT_EQ(q.size(), p.size() + k);
        for (std::size_t row = 1; row < p.size(); ++row) EXPECT_NEAR(p[row], q[row], 1e-6);
        const double unknown =
            q[0] + std::accumulate(q.begin() + static_cast<long>(p.size()), q.end(), 0.0);
        EXPECT_NEAR(p[0], unknown, 1e-6);
        EXPECT_NEAR(q[0], p[0] / static_cast<double>(k + 1), 1e-6);
      }
    }
  }
}

TEST(Growth, KeepsMomentsOfOldRowsAndStartsNewOnesFresh) {
  const auto network = network_of(control_flow::model(), {.config = small_config()});
  Parameters& parameters = network->parameters();
  const BlockId block = network->node(2).transition;
  const std::size_t columns = parameters.block(block).columns;
  const std::size_t rows = parameters.block(block).rows;
  for (std::size_t i = 0; i < rows * columns; ++i) parameters.first_moments(block)[i] = 2;
  parameters.step = 17;
  network->add_successors(2, {{Network::kEnd}, {2}});
  for (std::size_t i = 0; i < rows * columns; ++i) {
    EXPECT_EQ(parameters.first_moments(block)[i], 2);
  }
  for (std::size_t row = 0; row < rows + 2; ++row) {
    EXPECT_EQ(parameters.births(block)[row], row < rows ? 0u : 17u);
  }
  EXPECT_EQ(parameters.first_moments(block)[rows * columns], 0);
}

class ScalingChange : public ::testing::TestWithParam<double> {};
INSTANTIATE_TEST_SUITE_P(Factors, ScalingChange, ::testing::Values(0.3, 1.7, 12.0));

TEST_P(ScalingChange, ChangesNoProbability) {
  InProcess simulator(all_families());
  const auto traces = simulate(simulator, 100, 4);
  for (const Addressing addressing :
       {Addressing::kInstance, Addressing::kSite, Addressing::kShared}) {
    Network network(small_config(addressing), 3);
    grow(network, traces);
    shake(network, 0.1, 3);
    const Network before = network;
    for (NodeId id = 2; id < network.size(); ++id) {
      Scaling scaling = network.node(id).scaling;
      for (std::size_t i = 0; i < scaling.location.size(); ++i) {
        scaling.location[i] = scaling.location[i] + 0.3f * scaling.scale[i];
        scaling.scale[i] *= static_cast<float>(GetParam());
      }
      network.set_scaling(id, scaling);
    }
    for (std::size_t t = 0; t < 30; ++t) {
      const Probabilities old = along(before, traces[t]), now = along(network, traces[t]);
      for (std::size_t s = 0; s < old.values.size(); ++s) {
        EXPECT_NEAR(old.values[s], now.values[s], 1e-5 * (10 + std::abs(old.values[s])))
            << traces[t].entries[s].address->text;
        for (std::size_t row = 0; row < old.transitions[s].size(); ++row) {
          EXPECT_NEAR(old.transitions[s][row], now.transitions[s][row], 1e-5);
        }
      }
    }
  }
}

TEST(Config, ImpossibleSizesAreRefused) {
  NetworkConfig config = small_config();
  config.core_dim = 0;
  EXPECT_THROW(Network(config, 1), InvalidArgument);
  config = small_config();
  config.variable_embedding["x"] = {0, 10};
  EXPECT_THROW(Network(config, 1), InvalidArgument);
}

TEST(Softmax, IsOne) {
  for (const std::size_t n : {1u, 7u, 16u, 150u}) {
    Rng rng(n);
    std::vector<float> logits(n);
    for (float& v : logits) v = static_cast<float>(30 * rng.normal());
    const auto expected = softmax({logits.begin(), logits.end()});
    nn::softmax(n, logits.data());
    for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(logits[i], expected[i], 1e-6) << i;
  }
}

TEST(LstmGates, AreSigmoidsAndHyperbolicTangents) {
  for (const std::size_t h : {1u, 7u, 8u, 19u, 150u}) {
    Rng rng(h);
    std::vector<float> gates(4 * h), cell(h), cell_tanh(h), hidden(h);
    for (float& v : gates) v = static_cast<float>(std::pow(10, 2.5 * rng.uniform()) * rng.normal());
    for (float& v : cell) v = static_cast<float>(3 * rng.normal());
    const auto before = gates;
    const auto cell_before = cell;
    nn::lstm_gates(h, gates.data(), cell.data(), cell_tanh.data(), hidden.data());
    const auto sigmoid = [](double v) { return 1 / (1 + std::exp(-v)); };
    for (std::size_t j = 0; j < h; ++j) {
      const double i = sigmoid(before[j]), f = sigmoid(before[h + j]);
      const double g = std::tanh(before[2 * h + j]), o = sigmoid(before[3 * h + j]);
      const double c = f * cell_before[j] + i * g;
      EXPECT_NEAR(gates[j], i, 3e-7);
      EXPECT_NEAR(gates[h + j], f, 3e-7);
      EXPECT_NEAR(gates[2 * h + j], g, 3e-7);
      EXPECT_NEAR(gates[3 * h + j], o, 3e-7);
      EXPECT_NEAR(cell[j], c, 3e-6);
      EXPECT_NEAR(cell_tanh[j], std::tanh(c), 3e-6);
      EXPECT_NEAR(hidden[j], o * std::tanh(c), 3e-6);
    }
  }
}

// The same bits whatever the number of rows, and the right ones.
TEST(PackedMatrix, RowsDoNotDependOnEachOther) {
  Rng rng(1);
  for (const std::size_t inputs : {1u, 5u, 256u, 300u, 700u}) {
    for (const std::size_t outputs : {1u, 16u, 17u, 50u}) {
      constexpr std::size_t kRows = 40;
      std::vector<float> w(outputs * (inputs + 1)), a(kRows * inputs);
      for (float& v : w) v = static_cast<float>(rng.normal());
      for (float& v : a) v = static_cast<float>(rng.normal());
      const auto matrix = nn::PackedMatrix::with_bias(outputs, inputs + 1, w.data());
      const std::size_t ld = matrix.padded();
      std::vector<float> all(kRows * ld), one(ld), added(kRows * ld, 1.0f);
      matrix.apply(kRows, a.data(), inputs, all.data(), ld);
      matrix.add_to(kRows, a.data(), inputs, added.data(), ld);
      for (std::size_t r = 0; r < kRows; ++r) {
        matrix.apply(1, a.data() + r * inputs, inputs, one.data(), ld);
        for (std::size_t j = 0; j < outputs; ++j) {
          double sum = 0;
          for (std::size_t k = 0; k < inputs; ++k) {
            sum += double{a[r * inputs + k]} * w[j * (inputs + 1) + k];
          }
          ASSERT_EQ(one[j], all[r * ld + j]);
          ASSERT_NEAR(added[r * ld + j], sum + 1, 1e-4 * std::sqrt(double(inputs)));
          sum += w[j * (inputs + 1) + inputs];
          ASSERT_NEAR(one[j], sum, 1e-4 * std::sqrt(double(inputs)));
        }
      }
    }
  }
}

}  // namespace
}  // namespace psn
