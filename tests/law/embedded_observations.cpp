// How an inference network sees observations: through layers of their own and past them.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "psn/nn/network_file.h"
#include "psn/nn/observation.h"
#include "tests/law/inference_fixture.h"
#include "tests/law/network_fixture.h"

namespace psn {
namespace {

using test::shake;
using test::simulate;
using test::small_config;

NetworkConfig inference_config() {
  NetworkConfig config = small_config();
  config.purpose = Purpose::kInference;
  config.observation_layers = {.num_layers = 2, .hidden_dim = 3, .channels = 2, .skip = 4};
  return config;
}

// A number, a vector with more numbers than go past the layers, and one that may turn up late.
class Runs {
 public:
  std::vector<Trace> all() { return simulate(simulator_, 50, 4); }
  std::vector<Trace> without_the_late_one() {
    std::vector<Trace> traces = all();
    for (Trace& trace : traces) trace.entries.pop_back();
    return traces;
  }

 private:
  InProcess simulator_{{"observed", [](Context& ctx) {
                          const double a = ctx.sample(Normal(0, 1), {.name = "a"});
                          ctx.observe(Normal(a, 1), {.name = "few"});
                          ctx.observe(Normal(Value(std::vector<double>(6, a)), 1),
                                      {.name = "many"});
                          ctx.observe(Normal(a, 1), {.name = "late"});
                        }}};
};

std::vector<float> gates_of(const Network& network, const Trace& trace) {
  std::vector<Observed> seen;
  for (const Entry& entry : trace.entries) {
    if (entry.role != Role::kObserve) continue;
    if (const auto id = network.find(*entry.address, Role::kObserve)) {
      seen.push_back({*id, entry.value});
    }
  }
  return observation_inputs(network, seen);
}

class ObservationScaling : public ::testing::TestWithParam<double> {};
INSTANTIATE_TEST_SUITE_P(Factors, ObservationScaling, ::testing::Values(0.3, 1.7));

TEST_P(ObservationScaling, ChangesNothing) {
  Runs runs;
  const auto traces = runs.all();
  Network network(inference_config(), 3);
  Growth(network).absorb(traces);
  shake(network, 0.1, 3);
  const Network before = network;
  for (NodeId id = Network::kEnd + 1; id < network.size(); ++id) {
    Scaling scaling = network.node(id).scaling;
    for (std::size_t i = 0; i < scaling.location.size(); ++i) {
      scaling.location[i] += 0.3f * scaling.scale[i];
      scaling.scale[i] *= static_cast<float>(GetParam());
    }
    network.set_scaling(id, scaling);
  }
  for (const Trace& trace : traces) {
    const auto old = gates_of(before, trace), now = gates_of(network, trace);
    for (std::size_t j = 0; j < old.size(); ++j) ASSERT_NEAR(old[j], now[j], 1e-4);
  }
}

// Each number counts from the first update on, whether it goes past the layers alone or among many.
TEST(EmbeddedObservations, AreSeenFromTheStart) {
  Runs runs;
  const auto traces = runs.without_the_late_one();
  Network network(inference_config(), 3);
  Growth(network).absorb(traces);
  for (NodeId id = Network::kEnd + 1; id < network.size(); ++id) {
    if (!network.is_observation(id)) continue;
    const std::size_t n = network.node(id).value.components();
    const auto gates = [&](std::size_t moved) {
      std::vector<double> x(n, 0.3);
      if (moved < n) x[moved] += 1;
      const Observed one[] = {{id, n == 1 ? Value(x[0]) : Value(x)}};
      return observation_inputs(network, one);
    };
    for (std::size_t i = 0; i < n; ++i) EXPECT_NE(gates(n), gates(i)) << i;
  }
}

TEST(EmbeddedObservations, ALateOneChangesNothing) {
  Runs runs;
  Network network(inference_config(), 3);
  Growth growth(network);
  growth.absorb(runs.without_the_late_one());
  const auto traces = runs.all();
  std::vector<std::vector<float>> before;
  for (const Trace& trace : traces) before.push_back(gates_of(network, trace));
  const Network loaded = network;
  growth.absorb(traces);
  Network other = loaded;  // as one that goes on from a file
  Growth(other).absorb(traces);
  for (const Network* grown : {&network, &other}) {
    ASSERT_EQ(grown->size(), loaded.size() + 1);
    for (std::size_t t = 0; t < traces.size(); ++t) {
      const auto now = gates_of(*grown, traces[t]);
      for (std::size_t j = 0; j < now.size(); ++j) ASSERT_NEAR(before[t][j], now[j], 1e-4);
    }
  }
}

// A file of version 1, from before anything went past the layers, and what was computed then.
TEST(EmbeddedObservations, OldFilesGiveTheSameNumbers) {
  const auto network = load_network(PSN_SOURCE "/tests/unit/networks/inference-1.psn").network;
  EXPECT_EQ(network->config().observation_layers.skip, 0u);
  std::vector<Observed> seen;
  for (NodeId id = Network::kEnd + 1; id < network->size(); ++id) {
    if (network->is_observation(id)) seen.push_back({id, 2.0 + static_cast<double>(seen.size())});
  }
  const std::vector<float> then{0.183009386f,
                                0.176249087f,
                                -0.134607539f,
                                0.178197533f,
                                0,
                                0,
                                0,
                                0,
                                0.172984734f,
                                0.163838476f,
                                0.163848564f,
                                0.166108131f,
                                0.183341205f,
                                0.174794286f,
                                -0.135224253f,
                                0.177099586f};
  const auto now = observation_inputs(*network, seen);
  ASSERT_EQ(now.size(), then.size());
  for (std::size_t j = 0; j < now.size(); ++j) EXPECT_NEAR(now[j], then[j], 1e-6);
}

// Ten uniforms on [-1, 1], each measured with normal noise. The least loss is the mean entropy of
// the posterior, H(theta) + H(x | theta) - H(x).
double least_loss(double noise) {
  double entropy = 0;  // of x
  constexpr double kStep = 1e-3;
  for (double x = -4; x < 4; x += kStep) {
    const double p = (std::erf((x + 1) / (noise * std::numbers::sqrt2)) -
                      std::erf((x - 1) / (noise * std::numbers::sqrt2))) /
                     4;
    if (p > 0) entropy -= kStep * p * std::log(p);
  }
  return std::log(2) + 0.5 * std::log(2 * std::numbers::pi * std::numbers::e * noise * noise) -
         entropy;
}

TEST(EmbeddedObservations, AVectorOfUniformsDoesNotEndAtThePrior) {
  constexpr std::size_t kSize = 10;
  const double noise = std::sqrt(0.1);
  const Value low(std::vector<double>(kSize, -1)), high(std::vector<double>(kSize, 1));
  InProcess simulator({"uniforms", [&](Context& ctx) {
                         const Value theta = ctx.sample(Uniform(low, high), {.name = "theta"});
                         ctx.observe(Normal(theta, noise), {.name = "x"});
                       }});
  Preset chosen = preset("default", Purpose::kInference);
  chosen.network.core_dim = 40;
  chosen.training.traces = 20'000;
  chosen.training.batch_size = 64;
  chosen.training.validation_traces = 2000;
  Network network(chosen.network, 1);
  const Validation held_out = *train_online(simulator, network, chosen.training).validation;
  EXPECT_NEAR(held_out.prior_loss, kSize * std::log(2), 1e-9);
  const double least = kSize * least_loss(noise);
  EXPECT_GT(held_out.loss, least - 4.9 * held_out.standard_error);
  EXPECT_LT(held_out.loss, least + 1) << "without the skip it is above 6";
}

TEST(EmbeddedObservations, ThePaperHasNothingBesideTheLayers) {
  EXPECT_EQ(preset("paper", Purpose::kInference).network.observation_layers.skip, 0u);
  EXPECT_GT(preset("default", Purpose::kInference).network.observation_layers.skip, 0u);
}

}  // namespace
}  // namespace psn
