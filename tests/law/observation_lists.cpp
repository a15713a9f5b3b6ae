// Lists of any length as one observation: shared layers, a mean over the values. The gradient's law
// is in gradients.cpp.
#include <gtest/gtest.h>

#include <cmath>

#include "psn/core/in_process.h"
#include "psn/nn/network_file.h"
#include "psn/nn/observation.h"
#include "psn/train/growth.h"
#include "psn/train/observation_gradient.h"
#include "tests/law/inference_fixture.h"
#include "tests/law/network_fixture.h"
#include "tests/law/statistics.h"

namespace psn {
namespace {

// 10 to 50, and never 37.
std::int64_t length(Context& ctx) {
  const Distribution even = Categorical(Value(std::vector<double>(41, 1.0)));
  const auto n = 10 + ctx.sample(even, {.name = "n", .control = false}).integer();
  return n == 37 ? 38 : n;
}

// The order says nothing: x_i ~ N(mu, 1).
Model plate(bool backwards = false) {
  return {"plate", [=](Context& ctx) {
            const double mu = ctx.sample(Normal(0, 2), {.name = "mu"});
            const std::int64_t n = length(ctx);
            for (std::int64_t i = 0; i < n; ++i) {
              ctx.observe(Normal(mu, 1), {.name = "x", .index = backwards ? n - 1 - i : i});
            }
          }};
}

// All that is known of phi is in neighbours: x_i ~ N(phi x_{i-1}, 1).
Model sequence() {
  return {"sequence", [](Context& ctx) {
            const double phi = ctx.sample(Uniform(-1, 1), {.name = "phi"});
            const std::int64_t n = length(ctx);
            double x = 0;
            for (std::int64_t i = 0; i < n; ++i) {
              x = ctx.observe(Normal(phi * x, 1), {.name = "x", .index = i});
            }
          }};
}

NetworkConfig list_config() {
  NetworkConfig config = test::small_config();
  config.purpose = Purpose::kInference;
  config.observation_layers = {.num_layers = 2, .hidden_dim = 3, .skip = 4, .shared = true};
  config.observation_context = 3;
  config.compress_tails = false;
  return config;
}

std::vector<Observed> list_of(const Network& network, const Trace& trace) {
  std::vector<Observed> seen;
  for (const Entry& entry : trace.entries) {
    if (entry.role != Role::kObserve) continue;
    if (const auto id = network.find(*entry.address, Role::kObserve)) {
      seen.push_back({*id, entry.value, entry.address->variable->index});
    }
  }
  std::sort(seen.begin(), seen.end(), [](auto& a, auto& b) { return a.index < b.index; });
  return seen;
}

TEST(ObservationLists, AreOneObservation) {
  InProcess simulator(plate());
  const auto traces = test::simulate(simulator, 30);
  Network network(list_config(), 3);
  Growth(network).absorb(traces);
  ASSERT_EQ(network.size(), 4u);  // begin, end, mu, x
  EXPECT_EQ(network.node(3).text, "x__Normal");
  EXPECT_FALSE(network.node(3).may_be_missing);  // every run has one, however long
}

// What training, and what inference makes of a list, whatever the order in which it was observed.
TEST(ObservationLists, AreTheSameInTrainingAndInference) {
  InProcess forwards(plate()), backwards(plate(true));
  const auto traces = test::simulate(forwards, 30), other = test::simulate(backwards, 30);
  for (const auto* all : {&traces, &other}) {
    Network network(list_config(), 3);
    Growth growth(network);
    growth.absorb(*all);
    test::shake(network, 0.1, 3);
    const Batch batch = growth.flatten(*all);
    std::vector<float> inputs;
    ObservationGradient(network).compute(batch, inputs);
    const std::size_t width = network.observation_outputs();
    for (std::size_t at = 0; at < batch.traces(); ++at) {
      const auto one = observation_inputs(network, list_of(network, (*all)[batch.trace[at]]));
      for (std::size_t j = 0; j < width; ++j) ASSERT_NEAR(inputs[at * width + j], one[j], 1e-5);
    }
    // The file keeps that they share.
    const auto loaded =
        parse_network(serialize_network({std::make_shared<Network>(network), "[]"}), "file");
    const auto seen = list_of(network, (*all)[0]);
    EXPECT_EQ(observation_inputs(*loaded.network, seen), observation_inputs(network, seen));
  }
}

TEST(ObservationLists, AnotherScalingChangesNothing) {
  InProcess simulator(plate());
  const auto traces = test::simulate(simulator, 30);
  Network network(list_config(), 3);
  Growth(network).absorb(traces);
  test::shake(network, 0.1, 3);
  const Network before = network;
  Scaling scaling = network.node(3).scaling;
  scaling.location[0] += 0.7f;
  scaling.scale[0] *= 1.7f;
  network.set_scaling(3, scaling);
  for (const Trace& trace : traces) {
    const auto old = observation_inputs(before, list_of(before, trace));
    const auto now = observation_inputs(network, list_of(network, trace));
    for (std::size_t j = 0; j < old.size(); ++j) ASSERT_NEAR(old[j], now[j], 1e-4);
  }
}

std::shared_ptr<Network> trained_on_lists(const Model& model, std::uint64_t traces) {
  InProcess simulator(model);
  Preset chosen = preset("default", Purpose::kInference);
  chosen.network.core_dim = 40;
  chosen.network.observation_layers.shared = true;
  chosen.training.traces = traces;
  chosen.training.batch_size = 64;
  chosen.training.seed = 3;
  auto network = std::make_shared<Network>(chosen.network, 3);
  train_online(simulator, *network, chosen.training);
  return network;
}

Observations list(std::size_t n, double scale) {
  std::vector<double> x;
  Rng rng(11, n, 0);
  for (std::size_t i = 0; i < n; ++i) {
    x.push_back(scale + (i > 0 ? 0.6 * (x.back() - scale) : 0) + rng.normal());
  }
  return {{"x", Value(x)}};
}

// The program with a list of exactly this length.
Model of_length(const Model& model, std::size_t n) {
  return model.name == "plate"
             ? Model("plate",
                     [n](Context& ctx) {
                       const double mu = ctx.sample(Normal(0, 2), {.name = "mu"});
                       for (std::size_t i = 0; i < n; ++i) {
                         ctx.observe(Normal(mu, 1), {.name = "x", .index = std::int64_t(i)});
                       }
                     })
             : Model("sequence", [n](Context& ctx) {
                 const double phi = ctx.sample(Uniform(-1, 1), {.name = "phi"});
                 double x = 0;
                 for (std::size_t i = 0; i < n; ++i) {
                   x = ctx.observe(Normal(phi * x, 1), {.name = "x", .index = std::int64_t(i)});
                 }
               });
}

struct Answer {
  double mean, deviation;
};

Answer exact_plate(const Value& x) {
  double sum = 0;
  for (const double value : x) sum += value;
  const double precision = 0.25 + static_cast<double>(x.size());
  return {sum / precision, std::sqrt(1 / precision)};
}

Answer exact_sequence(const Value& x) {
  constexpr int kPoints = 20'000;
  double total = 0, first = 0, second = 0;
  for (int k = 0; k < kPoints; ++k) {
    const double phi = -1 + (k + 0.5) * 2 / kPoints;
    double log_p = 0, before = 0;
    for (const double value : x) {
      log_p -= (value - phi * before) * (value - phi * before) / 2;
      before = value;
    }
    const double weight = std::exp(log_p + 0.5 * double(x.size()));
    total += weight;
    first += weight * phi;
    second += weight * phi * phi;
  }
  const double mean = first / total;
  return {mean, std::sqrt(second / total - mean * mean)};
}

// How good a network is, is no law (these have .9 and more); that its weighted answer is right is
// one.
void expect_any_length(const Model& model, const char* name, Answer exact_of(const Value&),
                       double offset, double least) {
  const auto network = trained_on_lists(model, 40'000);
  for (const std::size_t n : {10u, 25u, 37u, 50u}) {
    const Observations data = list(n, offset);
    InProcess simulator(of_length(model, n));
    const EngineOptions options = engine_options(4'000, {{name}});
    const Posterior posterior = compiled_inference(simulator, network, data, options);
    const Answer exact = exact_of(data.values().at("x"));
    const double ess = posterior.effective_sample_size();
    EXPECT_GT(ess / 4'000, least) << n;
    EXPECT_NEAR(posterior.mean(name), exact.mean,
                kStandardErrors * exact.deviation / std::sqrt(ess))
        << n;
  }
}

TEST(ObservationLists, OfAPlateHaveAnyLength) {
  expect_any_length(plate(), "mu", exact_plate, 1, 0.3);
}

TEST(ObservationLists, OfASequenceHaveAnyLength) {
  expect_any_length(sequence(), "phi", exact_sequence, 0, 0.3);
}

}  // namespace
}  // namespace psn
