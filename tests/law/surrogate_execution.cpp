// The surrogate as it runs and as it is evaluated, against plain scalar code and the paper's Eq. 9
// and Theorem 2.
#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "psn/base/error.h"
#include "psn/infer/importance.h"
#include "psn/infer/metropolis.h"
#include "psn/nn/run/evaluate.h"
#include "psn/nn/run/surrogate.h"
#include "tests/law/unknown_traces.h"

namespace psn {
namespace {

using namespace test;

struct Case {
  const char* name;
  Model model;
  NetworkConfig config;
};

class Execution : public ::testing::TestWithParam<int> {
 protected:
  Case get() const {
    switch (GetParam()) {
      case 0:
        return {"control flow", control_flow::model(), small_config()};
      case 1:
        return {"sites", control_flow::model(), small_config(Addressing::kSite)};
      case 5:
        return {"shared indices", control_flow::model(), small_config(Addressing::kShared)};
      case 2:
        return {"families", all_families(), small_config(Addressing::kInstance, 2)};
      case 3:
        return {"families, sites", all_families(), small_config(Addressing::kSite, 3)};
      case 6:
        return {"gru", control_flow::model(), small_config(Addressing::kShared, 1, "gru")};
      case 7:
        return {"deep gru", all_families(), small_config(Addressing::kInstance, 2, "gru")};
      case 8:
        return {"attention", control_flow::model(),
                small_config(Addressing::kShared, 1, "attention")};
      case 9:
        return {"deep attention", all_families(),
                small_config(Addressing::kInstance, 2, "attention")};
      case 10:
      case 11:
      case 12:
        return {
            "counts", events(),
            counting(Addressing::kShared, core_names()[static_cast<std::size_t>(GetParam() - 10)])};
      case 13:
        return {"counts, full addresses", events(), counting(Addressing::kInstance, "lstm")};
      case 14:
        return {"no recall", control_flow::model(), without_recall()};
      default:
        return {"one variable", Model("one", [](Context& c) { c.sample(Normal(0, 1)); }),
                small_config()};
    }
  }
  static NetworkConfig without_recall() {
    NetworkConfig config = small_config(Addressing::kShared);
    config.recall = 0;
    return config;
  }
  static NetworkConfig counting(Addressing addressing, std::string_view core) {
    NetworkConfig config = small_config(addressing, 1, std::string(core));
    config.tally = true;
    return config;
  }
  std::shared_ptr<Network> network() const {
    return network_of(get().model, {.config = get().config});
  }
};

INSTANTIATE_TEST_SUITE_P(Programs, Execution, ::testing::Range(0, 15));

TEST_P(Execution, DoesNotDependOnWidthOrThreads) {
  SurrogateSimulator one("s", network());
  const auto expected = simulate(one, 200, 5, {1, 1});
  for (const Parallelism parallelism : {Parallelism{64, 1}, {7, 1}, {300, 1}, {64, 2}}) {
    SurrogateSimulator other("s", network());
    const auto traces = simulate(other, 200, 5, parallelism);
    for (std::size_t i = 0; i < traces.size(); ++i) {
      ASSERT_EQ(traces[i].entries.size(), expected[i].entries.size());
      EXPECT_EQ(traces[i].log_joint, expected[i].log_joint);
      for (std::size_t j = 0; j < traces[i].entries.size(); ++j) {
        ASSERT_EQ(traces[i].entries[j].address->text, expected[i].entries[j].address->text);
        ASSERT_TRUE(traces[i].entries[j].value == expected[i].entries[j].value);
      }
    }
  }
}

TEST_P(Execution, EvaluationEqualsWhatWasRunAndScalarCode) {
  const auto net = network();
  SurrogateSimulator simulator("s", net);
  const auto traces = simulate(simulator, 100);
  const auto compiled = std::make_shared<const CompiledNetwork>(net);
  const auto raw = log_prob(compiled, traces, UnknownEvaluation::kZero);
  const auto known = log_prob(compiled, traces, UnknownEvaluation::kRenormalise);
  const auto expanded = log_prob(compiled, traces, UnknownEvaluation::kExpand);
  for (std::size_t i = 0; i < traces.size(); ++i) {
    const ScalarEvaluation scalar = evaluate(*net, traces[i]);
    const double tolerance = 1e-5 * (10 + std::abs(scalar.values) + std::abs(scalar.transitions));
    EXPECT_NEAR(traces[i].log_joint, scalar.values, tolerance);
    EXPECT_NEAR(raw[i], scalar.values + scalar.transitions, tolerance);
    EXPECT_NEAR(known[i], traces[i].log_joint + scalar.known_transitions, tolerance);
    EXPECT_EQ(raw[i], expanded[i]);
  }
  EXPECT_EQ(log_prob(*net, traces[3], UnknownEvaluation::kZero), raw[3]);
}

TEST_P(Execution, HasTheSimulatorsAddressesNamesAndRoles) {
  const Case c = get();
  InProcess original(c.model);
  std::map<std::string, const Entry*> known;
  const auto real = simulate(original, 300);
  for (const Trace& trace : real) {
    for (const Entry& entry : trace.entries) known[entry.address->text] = &entry;
  }
  SurrogateSimulator simulator("s", network());
  for (const Trace& trace : simulate(simulator, 100)) {
    for (const Entry& entry : trace.entries) {
      const auto found = known.find(entry.address->text);
      if (found == known.end()) {  // only a count that goes further
        EXPECT_NE(c.config.addressing, Addressing::kInstance) << entry.address->text;
        continue;
      }
      EXPECT_EQ(entry.address->name(), found->second->address->name());
      EXPECT_EQ(entry.role, found->second->role);
      EXPECT_EQ(entry.control, found->second->control);
      EXPECT_EQ(entry.value.shape(), found->second->value.shape());
    }
  }
}

TEST_P(Execution, EveryEngineRunsInIt) {
  SurrogateSimulator simulator("s", network());
  EngineOptions options;
  options.samples = 500;
  options.parallelism = {.width = 32, .threads = 2};
  const Observations data{{"x", Value(1.0)}};
  const bool observed = GetParam() != 4;
  const Observations none;
  EXPECT_NO_THROW(importance_sampling(simulator, observed ? data : none, options));
  MetropolisOptions metropolis;
  static_cast<EngineOptions&>(metropolis) = options;
  for (const bool walk : {false, true}) {
    metropolis.random_walk = walk;
    EXPECT_NO_THROW(metropolis_hastings(simulator, observed ? data : none, metropolis));
  }
}

TEST(Transitions, EquationNineIsALiteralResamplingLoop) {
  const std::vector<float> logits{0.7f, -0.3f, 1.1f, 0.2f};
  constexpr int kDraws = 200'000;
  std::vector<double> renormalised(4), resampled(4);
  Rng a(1), b(2);
  for (int i = 0; i < kDraws; ++i) {
    renormalised[draw_transition(logits, false, a)->row] += 1.0 / kDraws;
    std::size_t row = 0;
    while (row == 0) row = draw_transition(logits, true, b)->row;
    resampled[row] += 1.0 / kDraws;
  }
  const auto p = softmax({logits.begin(), logits.end()});
  for (std::size_t row = 1; row < 4; ++row) {
    const double exact = p[row] / (1 - p[0]);
    EXPECT_NEAR(renormalised[row], exact, 5 * std::sqrt(exact * (1 - exact) / kDraws));
    EXPECT_NEAR(resampled[row], exact, 5 * std::sqrt(exact * (1 - exact) / kDraws));
  }
  EXPECT_EQ(renormalised[0], 0);
}

TEST(Transitions, NothingToDrawFromIsNoChoice) {
  Rng rng(1);
  const float nan = std::nanf("");
  EXPECT_FALSE(draw_transition(std::vector<float>{1.0f}, false, rng));
  EXPECT_FALSE(draw_transition(std::vector<float>{1.0f, nan, 0.0f}, false, rng));
  EXPECT_EQ(draw_transition(std::vector<float>{nan, 1.0f}, false, rng)->row, 1u);
  EXPECT_EQ(draw_transition(std::vector<float>{1.0f, -100.0f, -1000.0f}, false, rng)->row, 1u);
}

TEST(Surrogate, StopsAtAnUnknownAddressIfAskedTo) {
  const auto network = network_of(control_flow::model(), {.config = small_config()});
  SurrogateSimulator simulator("s", network, {SurrogateOptions::Unknown::kStop});
  EXPECT_THROW(simulate(simulator, 500), ModelError);
}

TEST(Surrogate, RefusesParametersThatAreNotFinite) {
  const auto network = network_of(control_flow::model(), {.config = small_config()});
  network->parameters().values(network->node(3).transition)[0] = std::nanf("");
  try {
    SurrogateSimulator("s", network);
    FAIL();
  } catch (const ModelError& error) {
    EXPECT_NE(std::string(error.what()).find(network->node(3).text), std::string::npos);
  }
}

// A program whose last address is only sometimes last: both ways out of it are taken.
TEST(Surrogate, AnyAddressMayBeFollowedByTheEnd) {
  const Model model("sometimes", [](Context& ctx) {
    if (ctx.sample(Bernoulli(0.5), {.name = "first"}) == 1) return;
    ctx.sample(Normal(0, 1), {.name = "second"});
  });
  SurrogateSimulator simulator("s", network_of(model, {.config = small_config()}));
  std::map<std::size_t, int> lengths;
  for (const Trace& trace : simulate(simulator, 500)) ++lengths[trace.entries.size()];
  EXPECT_EQ(lengths.size(), 2u);
  EXPECT_GT(lengths[1], 20);
  EXPECT_GT(lengths[2], 20);
}

class EveryCore : public ::testing::TestWithParam<std::string_view> {
 protected:
  static NetworkConfig config(std::size_t depth = 1) {
    return small_config(Addressing::kInstance, depth, std::string(GetParam()));
  }
};
INSTANTIATE_TEST_SUITE_P(Cores, EveryCore,
                         ::testing::ValuesIn(core_names().begin(), core_names().end()),
                         [](const auto& test) { return std::string(test.param); });

// A row's copy goes on as the row itself, to the bit, and neither changes the other.
TEST_P(EveryCore, ARowCanBeCopied) {
  const Model model("steps", [](Context& ctx) {
    for (int i = 0; i < 40; ++i) ctx.sample(Normal(0, 1), {.name = "x"});
  });
  const auto network = network_of(model, {.config = config(2)});
  InProcess simulator(model);
  const Trace trace = simulate(simulator, 1)[0];
  Executor executor(std::make_shared<const CompiledNetwork>(network), 3);
  const auto outputs = [&](Executor::Row row, std::size_t step, double value) {
    const Value last(value);
    const Executor::Drawn drawn{row, &last};
    if (step > 0) executor.take({&drawn, 1});
    const Address* address = trace.entries[step].address;
    const Executor::Next next{row, *network->find(*address), address};
    std::vector<float> result;
    executor.step({&next, 1}, [&](std::size_t, const float* o) { result.assign(o, o + 2); });
    return result;
  };
  const auto value = [](std::size_t step) { return std::sin(static_cast<double>(step)); };
  std::vector<std::vector<float>> expected;
  for (std::size_t i = 0; i < 40; ++i) expected.push_back(outputs(0, i, value(i)));
  for (std::size_t i = 0; i < 20; ++i) outputs(1, i, value(i));
  outputs(2, 0, 0);  // something to be overwritten
  executor.copy(1, 2);
  for (std::size_t i = 20; i < 40; ++i) {
    EXPECT_EQ(outputs(2, i, value(i)), expected[i]) << i;
    EXPECT_NE(outputs(1, i, -3), expected[i]) << i;
  }
}

// Theorem 2: a trace with new addresses and transitions has a density, and it is the old network's
// where nothing is new.
TEST_P(EveryCore, ExpandsForWhatIsUnknown) {
  InProcess simulator(control_flow::model());
  const auto traces = simulate(simulator, 400);
  Network network(config(), 3);
  grow(network, {traces.begin(), traces.begin() + 5});
  shake(network, 0.15, 3);
  const int unknown = expect_expanded(network, traces);
  EXPECT_GT(unknown, 10);
  EXPECT_LT(unknown, 395);
}

}  // namespace
}  // namespace psn
