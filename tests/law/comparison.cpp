// How a surrogate compares with its simulator, against plain scalar code.
#include "psn/train/comparison.h"

#include <gtest/gtest.h>

#include "psn/base/error.h"
#include "psn/nn/run/evaluate.h"
#include "psn/nn/run/surrogate.h"
#include "psn/services/trace_record.h"
#include "psn/train/validation.h"
#include "tests/law/network_fixture.h"

namespace psn {
namespace {

using namespace test;

// The probability that the network draws unknown somewhere along a trace that it knows.
double unknown_along(const Network& network, const Trace& trace) {
  ScalarNetwork scalar(network);
  double known = 1 - softmax(scalar.logits())[0];
  for (const Entry& entry : trace.entries) {
    if (!is_choice(entry)) continue;
    scalar.step(*network.find(*entry.address), entry.address->instance);
    known *= 1 - softmax(scalar.logits(entry.value))[0];
  }
  return 1 - known;
}

TEST(Comparison, IsTheMeanLogRatioAndTheTableAddsUp) {
  for (const Model& model : {control_flow::model(), all_families()}) {
    InProcess simulator(model);
    const auto traces = simulate(simulator, 300);
    Network network(small_config(), 3);
    grow(network, traces);
    shake(network, 0.15, 3);
    ConditionalComparison comparison(network);
    comparison.add(std::span(traces).first(100));
    comparison.add(std::span(traces).subspan(100));
    const ConditionalDeviation result = comparison.result();

    double kl = 0, transitions = 0, values = 0, unknown = 0;
    for (const Trace& trace : traces) {
      const ScalarEvaluation s = evaluate(network, trace);
      kl += (trace.log_joint - s.values - s.transitions) / 300;
      transitions -= s.transitions / 300;
      unknown += unknown_along(network, trace) / 300;
    }
    EXPECT_EQ(result.traces, 300u);
    EXPECT_EQ(result.unseen, 0u);
    EXPECT_NEAR(result.kl, kl, 1e-4 * (1 + kl));
    EXPECT_NEAR(result.transitions, transitions, 1e-4 * (1 + transitions));
    EXPECT_NEAR(result.unknown_mass, unknown, 1e-4);
    for (const AddressDeviation& address : result.addresses) {
      values += address.value;
      EXPECT_TRUE(!address.closed_form || address.value > -1e-9) << address.address;
    }
    EXPECT_NEAR(result.values, values, 1e-9 * (1 + values));
  }
}

// A surrogate draws where it goes, which its simulator does not. From itself it differs by the
// unknown mass alone, which it never draws: trace by trace the log ratio is -log P(known).
TEST(Comparison, OfASurrogateWithItself) {
  Network network(small_config(), 3);
  InProcess simulator(control_flow::model());
  grow(network, simulate(simulator, 300));
  shake(network, 0.15, 3);
  SurrogateSimulator itself("s", std::make_shared<Network>(network));
  auto traces = simulate(itself, 300);
  const auto compared = [&] {
    ConditionalComparison comparison(network);
    comparison.add(traces);
    return comparison.result();
  };
  const ConditionalDeviation result = compared();
  double kl = 0, entropy = 0;
  for (const Trace& trace : traces) {
    kl -= std::log1p(-unknown_along(network, trace)) / 300;
    entropy -= trace.log_transitions() / 300;
  }
  constexpr double kTolerance = 5e-4;  // of sums of floats, about 6
  EXPECT_NEAR(result.kl, kl, kTolerance);
  EXPECT_NEAR(result.values, 0, 1e-4);
  EXPECT_NEAR(result.transitions, kl, kTolerance);
  EXPECT_NEAR(validate(network, traces).kl, kl, kTolerance);

  // What is counted apart is not little.
  ASSERT_GT(entropy, 0.1);
  for (Trace& trace : traces) trace.transitions.clear();
  EXPECT_NEAR(compared().kl, kl + entropy, kTolerance);
}

// A trace as its simulator made it and as a surrogate sees it: log s of the whole, choice by
// choice.
TEST(Comparison, OneTraceUnderBoth) {
  InProcess simulator(control_flow::model());
  const auto traces = simulate(simulator, 100);
  auto network = std::make_shared<Network>(small_config(), 3);
  grow(*network, {traces.begin(), traces.begin() + 5});
  shake(*network, 0.15, 3);
  const auto compiled = std::make_shared<const CompiledNetwork>(network);
  const auto expected = log_prob(compiled, traces, UnknownEvaluation::kZero);
  const auto records = services::records_under(compiled, traces);
  std::size_t unknown = 0;
  for (std::size_t i = 0; i < traces.size(); ++i) {
    ASSERT_EQ(records[i].steps.size(), traces[i].entries.size());
    const bool known = expected[i] > -kInfinity;
    unknown += known ? 0 : 1;
    if (known) {
      EXPECT_NEAR(records[i].log_joint, expected[i], 1e-4 * (1 + std::abs(expected[i])));
    } else {
      EXPECT_EQ(records[i].log_joint, -kInfinity);
    }
    for (const auto& step : records[i].steps) {
      EXPECT_EQ(step.distribution.empty(), !known);
      EXPECT_EQ(step.transition.has_value(), known);
    }
  }
  EXPECT_GT(unknown, 10u);
  EXPECT_LT(unknown, 90u);
}

// One address with a closed form: the table has the divergence itself, not an estimate.
TEST(Comparison, UsesClosedForms) {
  const Model model("one", [](Context& ctx) { ctx.sample(Normal(2, 3), {.name = "a"}); });
  InProcess simulator(model);
  const auto network = network_of(model, {.config = small_config()});
  const auto traces = simulate(simulator, 5);
  ScalarNetwork scalar(*network);
  const auto outputs = scalar.step(2, 1);
  const auto learned =
      head_distribution(scalar.node().value, scalar.node().scaling, outputs.data());
  ConditionalComparison comparison(*network);
  comparison.add(traces);
  EXPECT_NEAR(comparison.result().values, *kl_divergence(Normal(2, 3), learned), 1e-5);
}

// What the surrogate lacks counts as unknown mass, is counted, and leaves the KL finite.
TEST(Comparison, OfWhatTheSurrogateLacks) {
  InProcess simulator(control_flow::model());
  const auto traces = simulate(simulator, 400);
  Network network(small_config(), 3);
  grow(network, {traces.begin(), traces.begin() + 5});
  shake(network, 0.15, 3);
  ConditionalComparison comparison(network);
  comparison.add(traces);
  const ConditionalDeviation result = comparison.result();
  std::uint64_t unseen = 0;
  for (const Trace& trace : traces) {
    unseen += log_prob(network, trace, UnknownEvaluation::kZero) == -kInfinity;
  }
  EXPECT_EQ(result.unseen, unseen);
  EXPECT_GT(unseen, 10u);
  EXPECT_TRUE(std::isfinite(result.kl));
  EXPECT_GT(result.unknown_mass, 0);
  EXPECT_LT(result.unknown_mass, 1);
}

TEST(Comparison, NamesTheFirstAddressOfAnotherModel) {
  const Model other("other", [](Context& ctx) { ctx.sample(Normal(0, 1), {.name = "mu"}); });
  InProcess simulator(other);
  const auto network = network_of(control_flow::model(), {.config = small_config()});
  ConditionalComparison comparison(*network);
  comparison.add(simulate(simulator, 10));
  try {
    comparison.result();
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_NE(std::string(error.what()).find("mu__Normal__1"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace psn
