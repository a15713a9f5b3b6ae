// Delayed acceptance has the simulator's posterior as its law, whatever the surrogate is: against
// exact answers, with a surrogate that was trained and with one of random weights.
#include "psn/infer/delayed_acceptance.h"

#include <gtest/gtest.h>

#include <cmath>

#include "experiments/control_flow/control_flow.h"
#include "experiments/reference/reference.h"
#include "psn/base/error.h"
#include "psn/nn/run/alongside.h"
#include "psn/nn/run/surrogate.h"
#include "tests/law/chain_means.h"
#include "tests/law/enumerated_program.h"
#include "tests/law/exact_answers.h"
#include "tests/law/inference_fixture.h"
#include "tests/law/network_fixture.h"

namespace psn {
namespace {

using namespace test;

// A simulator with surrogates of it, the coarsest first.
struct Levels {
  Levels(Model model, const std::vector<std::shared_ptr<const Network>>& networks,
         Observations observed)
      : simulator(std::move(model)), data(std::move(observed)) {
    for (const auto& network : networks) {
      surrogates.push_back(std::make_unique<SurrogateSimulator>(
          "s", network, SurrogateOptions{.addresses = &simulator.addresses()}));
      levels.push_back(
          {surrogates.back().get(), Alongside(surrogates.back()->compiled(), &data, nullptr)});
    }
  }

  DelayedResult run(DelayedOptions options) {
    options.surrogates = levels;
    return delayed_acceptance(simulator, data, options);
  }

  InProcess simulator;
  Observations data;
  std::vector<std::unique_ptr<SurrogateSimulator>> surrogates;
  std::vector<SurrogateLevel> levels;
};

DelayedOptions delayed_options(std::uint64_t samples, std::vector<Query> queries) {
  DelayedOptions options;
  options.samples = samples;
  options.chains = 20;
  options.burn_in = 100;
  options.queries = std::move(queries);
  options.seed = 4;
  options.random_walk = true;
  options.parallelism = {20, 2};
  options.most_moves = 40;
  return options;
}

std::shared_ptr<const Network> bad_network(const Model& model, double shake = 0.3,
                                           std::uint64_t traces = 300) {
  return network_of(model, {.config = small_config(), .traces = traces, .shake = shake});
}

// Loops, branches, an uncontrolled choice that decides about the way.
Model two_ways() {
  return Model("branches", [](Context& ctx) {
    double total = 0;
    for (int i = 0; i < 2; ++i) {
      const auto c = ctx.sample(Categorical({0.4, 0.3, 0.3}), {.name = "c", .index = i}).integer();
      if (c == 0) break;
      total += c == 2 && ctx.sample(Bernoulli(0.5), {.name = "b", .index = i}) == 1 ? 2 : 1;
    }
    if (total > 1) {
      const bool u = ctx.sample(Bernoulli(0.4), {.name = "u", .control = false}) == 1;
      if (u) total += ctx.sample(Bernoulli(0.3), {.name = "more"}).scalar();
    }
    ctx.observe(Poisson(0.5 + total), {.name = "x"});
    ctx.observe(Normal(total, 1), {.name = "unseen"});
  });
}

using Values = EnumeratedProgram::Values;
double value_or(const Values& values, const std::string& name, double otherwise) {
  const auto found = values.find(name);
  return found == values.end() ? otherwise : found->second;
}
Values values_of(const Trace& trace) {
  Values values;
  for (const Entry& e : trace.entries) {
    if (e.role == Role::kSample) values[std::string(e.address->name())] = e.value.scalar();
  }
  return values;
}

struct Chosen {
  std::string name;
  std::function<double(const Values&)> f;
};
const std::vector<Chosen> kStatistics{
    {"choices", [](const Values& v) { return static_cast<double>(v.size()); }},
    {"u", [](const Values& v) { return value_or(v, "u", 0); }},
    {"has u", [](const Values& v) { return v.contains("u") ? 1.0 : 0.0; }},
    {"more", [](const Values& v) { return value_or(v, "more", 0); }},
    {"sum of c", [](const Values& v) { return value_or(v, "c_0", 0) + value_or(v, "c_1", 0); }},
};

void expect_enumerated_law(const std::vector<std::shared_ptr<const Network>>& networks,
                           double fresh_share) {
  const Observations data{{"x", Value(2.0)}};
  Levels levels(two_ways(), networks, data);
  const EnumeratedProgram exact(two_ways(), data);
  DelayedOptions options = delayed_options(kManyChains * 1'000, {});
  options.chains = kManyChains;
  options.most_moves = 12;
  options.fresh_share = fresh_share;
  for (const Chosen& s : kStatistics) {
    options.queries.push_back(
        {s.name, {}, [&s](const Trace& t) { return Value(s.f(values_of(t))); }});
  }
  const DelayedResult result = levels.run(options);
  EXPECT_GT(result.acceptance, 0.02);
  for (const Chosen& s : kStatistics) {
    expect_mean_of_chains(result.posterior, s.name, exact.expectation(s.f));
  }
}

TEST(DelayedAcceptance, HasTheEnumeratedLaw) {
  expect_enumerated_law({bad_network(two_ways(), 0.5)}, 0.05);
}

TEST(DelayedAcceptance, HasTheEnumeratedLawWithSeveralLevels) {
  expect_enumerated_law({bad_network(two_ways(), 0.5), bad_network(two_ways(), 0.2)}, 0.1);
}

// A surrogate of few runs knows few ways: the rest is left to whole new runs.
TEST(DelayedAcceptance, WholeNewRunsFindWhatTheSurrogateRulesOut) {
  const auto network = bad_network(two_ways(), 0.3, 2);
  const auto known = network->size();
  ASSERT_LT(known, bad_network(two_ways())->size());
  expect_enumerated_law({network}, 0.5);
}

struct Case {
  std::string model;
  bool good;
};

class DelayedLaw : public ::testing::TestWithParam<Case> {
 protected:
  // With or without training.
  std::shared_ptr<const Network> network(const Model& model, std::uint64_t traces,
                                         Addressing addressing = Addressing::kInstance) {
    if (!GetParam().good) return bad_network(model, 0.2);
    InProcess simulator(model);
    return train(simulator, Purpose::kSurrogate, traces, addressing);
  }
};

TEST_P(DelayedLaw, IsTheExactPosterior) {
  const bool good = GetParam().good;
  const std::uint64_t samples = good ? 10'000 : 60'000;
  if (GetParam().model == "control_flow") {
    const control_flow::ExactPosterior exact(5);
    Levels levels(control_flow::model(), {network(control_flow::model(), 20'000)},
                  {{"x", Value(5.0)}});
    DelayedOptions options = delayed_options(samples, {{"theta"}});
    if (!good) options.fresh_share = 0.2;  // hardly anything else is accepted
    options.seed = 8;                      // a run with theta near 0 takes for ever
    const DelayedResult result = levels.run(options);
    expect_moments(result.posterior, "theta", exact.mean(), exact.sd());
    if (good) EXPECT_GT(result.acceptance, 0.3);
  } else if (GetParam().model == "hmm") {
    std::vector<Query> queries;
    for (int t = 0; t < 16; ++t) queries.push_back({"x_" + std::to_string(t)});
    const reference::HmmParameters p;
    Observations data;
    for (int t = 0; t < 16; ++t) data.set("obs_" + std::to_string(t), Value(p.data[t]));
    Levels levels(reference::hmm(), {network(reference::hmm(), 12'000)}, data);
    expect_states(levels.run(delayed_options(samples, queries)).posterior, forward_backward());
  } else {
    Levels levels(reference::branching(), {network(reference::branching(), 10'000)},
                  {{"obs", Value(6.0)}});
    const DelayedResult result = levels.run(delayed_options(samples, {{"count"}, {"extra"}}));
    expect_branching(result.posterior, branching_answer());
  }
}

INSTANTIATE_TEST_SUITE_P(All, DelayedLaw,
                         ::testing::Values(Case{"control_flow", true}, Case{"control_flow", false},
                                           Case{"hmm", true}, Case{"hmm", false},
                                           Case{"branching", true}, Case{"branching", false}),
                         [](const auto& test) {
                           return test.param.model + (test.param.good ? "Good" : "Bad");
                         });

std::vector<double> all_numbers(const DelayedResult& result) {
  std::vector<double> all = result.posterior.column("choices").data;
  all.insert(all.end(), {result.acceptance, result.khat, static_cast<double>(result.longest_stay)});
  all.insert(all.end(), result.moves.begin(), result.moves.end());
  return all;
}

DelayedOptions short_run(Parallelism parallelism) {
  DelayedOptions options = delayed_options(
      600,
      {{"choices", {}, [](const Trace& t) { return Value(static_cast<double>(t.length())); }}});
  options.chains = 7;
  options.parallelism = parallelism;
  return options;
}

TEST(DelayedAcceptance, DependsOnNeitherWidthNorThreads) {
  const std::vector<std::shared_ptr<const Network>> networks{bad_network(two_ways(), 0.5),
                                                             bad_network(two_ways(), 0.2)};
  std::vector<double> expected;
  for (const Parallelism p : {Parallelism{1, 1}, {7, 1}, {2, 2}}) {
    Levels levels(two_ways(), networks, {{"x", Value(2.0)}});
    const std::vector<double> all = all_numbers(levels.run(short_run(p)));
    if (expected.empty()) expected = all;
    EXPECT_EQ(all, expected);
  }
}

// Stopped again and again, and gone on with in another process's stead: the same to the bit.
TEST(DelayedAcceptance, GoesOnToTheResultOfOneRun) {
  const std::vector<std::shared_ptr<const Network>> networks{bad_network(two_ways(), 0.5),
                                                             bad_network(two_ways(), 0.2)};
  const Observations data{{"x", Value(2.0)}};
  Levels whole(two_ways(), networks, data);
  const std::vector<double> expected = all_numbers(whole.run(short_run({1, 1})));
  std::optional<std::string> kept;
  for (int stops = 0;; ++stops) {
    ASSERT_LT(stops, 100);
    Monitor monitor;
    int left = 211;
    Levels part({"branches",
                 [&, program = two_ways().program](Context& ctx) {
                   if (--left == 0) monitor.stop.store(true);
                   return program(ctx);
                 }},
                networks, data);
    std::optional<EngineState> begun;
    if (kept) {
      begun = EngineState::from_file(
          TensorFile::parse(*kept, "kept", EngineState::kKind, EngineState::kVersion),
          part.simulator.addresses(), "kept");
    }
    DelayedOptions options = short_run({3, 1});
    EngineWindow window;
    options.monitor = &monitor;
    options.window = &window;
    options.resume = begun ? &*begun : nullptr;
    try {
      EXPECT_EQ(all_numbers(part.run(options)), expected);
      EXPECT_GE(stops, 3);
      break;
    } catch (const Interrupted&) {
      kept = window.look()->to_file().serialize();
    }
  }
}

TEST(DelayedAcceptance, CountsRunsOfTheSimulatorAlone) {
  Levels levels(two_ways(), {bad_network(two_ways(), 0.5)}, {{"x", Value(2.0)}});
  DelayedOptions options = short_run({7, 1});
  options.fresh_share = 1;
  const DelayedResult result = levels.run(options);
  // An iteration is a run; a start takes more of them where the likelihood is zero, here nowhere.
  EXPECT_EQ(levels.simulator.runs(), result.iterations + options.chains);
  EXPECT_EQ(levels.surrogates[0]->runs(), 0u);
}

TEST(DelayedAcceptance, NeedsAddressesInCommon) {
  InProcess simulator(two_ways());
  SurrogateSimulator other("s", bad_network(two_ways()));
  const Observations data{{"x", Value(2.0)}};
  DelayedOptions options = short_run({1, 1});
  options.surrogates = {{&other, Alongside(other.compiled(), &data, nullptr)}};
  EXPECT_THROW(delayed_acceptance(simulator, data, options), InvalidArgument);
}

}  // namespace
}  // namespace psn
