// A surrogate that goes on in its simulator where it knows no further: the law of its traces
// against the sum over all of them, and what engines make of it.
#include <gtest/gtest.h>

#include <map>
#include <stdexcept>
#include <tuple>

#include "psn/base/error.h"
#include "psn/infer/importance.h"
#include "psn/infer/metropolis.h"
#include "psn/nn/run/surrogate.h"
#include "tests/law/network_fixture.h"
#include "tests/law/statistics.h"

namespace psn {
namespace {

using namespace test;

constexpr double kProbs[] = {0.5, 0.3, 0.2};  // of k
constexpr double kOnes[] = {0.9, 0.2, 0.6};   // of what follows each k
const char* const kNames[] = {"a", "b", "c"};

Model program(int largest) {
  return {"three ways", [largest](Context& ctx) {
            const auto k =
                ctx.sample(Categorical({kProbs[0], kProbs[1], kProbs[2]}), {.name = "k"}).integer();
            if (k > largest) return;
            ctx.sample(Bernoulli(kOnes[k]), {.name = kNames[k]});
          }};
}

// Knows of no way to "c"; weights are random, so it often errs about the way.
std::shared_ptr<Network> ignorant_network() {
  return network_of(program(1), {.config = small_config(), .traces = 100, .shake = 0.4});
}

std::unique_ptr<SurrogateSimulator> falling_back(const Model& model) {
  return std::make_unique<SurrogateSimulator>(
      "s", ignorant_network(),
      SurrogateOptions{SurrogateOptions::Unknown::kSimulator, std::make_shared<InProcess>(model)});
}

// (k, name of what follows, its value); "" where nothing follows.
using Outcome = std::tuple<int, std::string, int>;

Outcome outcome_of(const Trace& trace) {
  const int k = static_cast<int>(trace.entries[0].value.integer());
  if (trace.entries.size() == 1) return {k, "", 0};
  return {k, trace.entries[1].address->name(), static_cast<int>(trace.entries[1].value.integer())};
}

struct Law {
  std::map<Outcome, double> p;
  double taken = 0;  // expected number of fall-backs in a trace
};

double bernoulli(double one, int x) {
  return x == 1 ? one : 1 - one;
}

// By summing over all ways, from a scalar implementation of the network.
Law exact_law(const Network& network) {
  Law law;
  const double at_begin = softmax(ScalarNetwork(network).logits())[0];
  law.taken = at_begin;
  for (int k = 0; k < 3; ++k) {
    for (const int x : {0, 1}) {
      law.p[{k, kNames[k], x}] += at_begin * kProbs[k] * bernoulli(kOnes[k], x);
    }
    ScalarNetwork start(network);
    const NodeId first = network.node(Network::kBegin).successors.at(0).node;
    const auto outputs = start.step(first, 1);
    const double here =
        (1 - at_begin) *
        std::exp(head_distribution(start.node().value, start.node().scaling, outputs.data())
                     .log_prob(Value(double(k))));
    const auto ways = softmax(start.logits(Value(double(k))));
    law.taken += here * ways[0];
    for (const int x : {0, 1}) {  // the simulator goes on after k
      law.p[{k, kNames[k], x}] += here * ways[0] * bernoulli(kOnes[k], x);
    }
    for (std::size_t row = 1; row < ways.size(); ++row) {
      const NodeId next = start.node().successors[row - 1].node;
      if (next == Network::kEnd) {
        law.p[{k, "", 0}] += here * ways[row];
        continue;
      }
      ScalarNetwork then = start;
      const auto parameters = then.step(next, 1);
      const auto distribution =
          head_distribution(then.node().value, then.node().scaling, parameters.data());
      for (const int x : {0, 1}) {
        const double p = here * ways[row] * std::exp(distribution.log_prob(Value(double(x))));
        law.p[{k, then.node().name, x}] += p;
        // After it the simulator only has an end to offer, if k leads there at all; otherwise it
        // refuses, and the network's only other way is the end as well.
        if (then.node().name == kNames[k]) {
          auto last = then;
          law.taken += p * softmax(last.logits(Value(double(x))))[0];
        }
      }
    }
  }
  return law;
}

// A simulator that throws, on the way through the choices so far or later, fails that trace alone.
TEST(Fallback, ASimulatorThatThrows) {
  const Model throwing("three ways", [](Context& ctx) {
    const auto k =
        ctx.sample(Categorical({kProbs[0], kProbs[1], kProbs[2]}), {.name = "k"}).integer();
    if (k == 1) throw std::runtime_error("no way");
    const double x = ctx.sample(Bernoulli(kOnes[k]), {.name = kNames[k]});
    if (x == 1) throw std::runtime_error("no end");
  });
  SurrogateSimulator surrogate(
      "s", ignorant_network(),
      {SurrogateOptions::Unknown::kSimulator, std::make_shared<InProcess>(throwing, 2000)});
  EngineOptions options;
  options.samples = 2000;
  const Posterior posterior = simulate(surrogate, options);
  EXPECT_GT(surrogate.failures().runs, 50u);
  EXPECT_EQ(posterior.size() + surrogate.failures().runs, options.samples);
}

// Each outcome within 5 standard errors: with about 15 of them, one false alarm in 100,000 seeds.
TEST(Fallback, TracesHaveTheExactLaw) {
  constexpr std::uint64_t kTraces = 100'000;
  const auto simulator = falling_back(program(2));
  const Law law = exact_law(simulator->network());
  std::map<Outcome, double> found;
  for (const Trace& trace : simulate(*simulator, kTraces))
    found[outcome_of(trace)] += 1.0 / kTraces;
  double total = 0;
  for (const auto& [outcome, p] : law.p) {
    total += p;
    EXPECT_NEAR(found[outcome], p, 5 * std::sqrt(p * (1 - p) / kTraces) + 1e-12)
        << std::get<0>(outcome) << std::get<1>(outcome) << std::get<2>(outcome);
  }
  EXPECT_NEAR(total, 1, 1e-6);
  EXPECT_GT((law.p.at({2, "c", 1})), 0.01);  // only the simulator has this
  // At most three a trace, so their variance is below 3 times the mean.
  EXPECT_NEAR(static_cast<double>(simulator->fallbacks().taken) / kTraces, law.taken,
              5 * std::sqrt(3 * law.taken / kTraces));
  EXPECT_GT(simulator->fallbacks().refused, 0u);
}

TEST(Fallback, DoesNotDependOnWidthOrThreads) {
  const auto one = falling_back(program(2));
  const auto expected = simulate(*one, 500, 5, {1, 1});
  for (const Parallelism parallelism : {Parallelism{64, 1}, {7, 2}}) {
    const auto other = falling_back(program(2));
    const auto traces = simulate(*other, 500, 5, parallelism);
    for (std::size_t i = 0; i < traces.size(); ++i) {
      EXPECT_EQ(outcome_of(traces[i]), outcome_of(expected[i]));
      EXPECT_EQ(traces[i].log_joint, expected[i].log_joint);
    }
    EXPECT_EQ(other->fallbacks().taken, one->fallbacks().taken);
  }
}

// Surrogate and simulator are one program to an engine: all engines find one posterior in it. The
// evidence lies before the change to the simulator in some traces, after it in others.
TEST(Fallback, EnginesAgree) {
  const auto model = [](bool whole) {
    return Model("observed", [whole](Context& ctx) {
      const double a = ctx.sample(Normal(0, 1), {.name = "a"});
      ctx.observe(Normal(a, 1), {.name = "x"});
      if (!whole) return;
      const double b = ctx.sample(Normal(a, 1), {.name = "b"});
      ctx.observe(Normal(a + b, 1), {.name = "y"});
    });
  };
  const auto network = network_of(model(false), {.config = small_config(), .shake = 0.3});
  SurrogateSimulator simulator(
      "s", network,
      {SurrogateOptions::Unknown::kSimulator, std::make_shared<InProcess>(model(true))});
  const Observations data{{"x", Value(1.0)}, {"y", Value(2.0)}};
  const auto choices = [](const Trace& t) { return Value(static_cast<double>(t.length())); };
  constexpr std::size_t kChains = 40;
  MetropolisOptions options;
  options.samples = 200'000;
  options.queries = {{"a"}, {"choices", {}, choices}};
  options.parallelism = {.width = kChains, .threads = 1};
  options.chains = kChains;
  options.burn_in = 200;
  const Posterior exact = importance_sampling(simulator, data, options);
  for (const bool walk : {false, true}) {
    options.random_walk = walk;
    const Posterior chains = metropolis_hastings(simulator, data, options).posterior;
    for (const Query& query : options.queries) {
      const double variance = exact.variance(query.name);
      const double error = std::sqrt(variance / effective_sample_size(chains, query.name) +
                                     variance / exact.effective_sample_size());
      EXPECT_NEAR(chains.mean(query.name), exact.mean(query.name), kStandardErrors * error)
          << query.name << ", walk " << walk;
      EXPECT_LT(error, 0.03) << query.name;
    }
  }
  EXPECT_GT(simulator.fallbacks().taken, 1000u);
}

TEST(Fallback, RefusesAnotherModel) {
  const auto simulator =
      falling_back(Model("other", [](Context& ctx) { ctx.sample(Normal(0, 1), {.name = "mu"}); }));
  try {
    simulate(*simulator, 500);
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_NE(std::string(error.what()).find("mu__Normal__1"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("k__Categorical"), std::string::npos);
  }
  EXPECT_THROW(SurrogateSimulator("s", ignorant_network(), {SurrogateOptions::Unknown::kSimulator}),
               InvalidArgument);
}

}  // namespace
}  // namespace psn
