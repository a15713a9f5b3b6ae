// What a simulator's author can rely on.
#include "psn/core/context.h"

#include <gtest/gtest.h>

#include "psn/base/error.h"
#include "psn/core/in_process.h"
#include "psn/infer/importance.h"

namespace psn {
namespace {

Trace one_trace(const Model& model, const Observations* observations = nullptr,
                std::uint64_t seed = 1) {
  InProcess simulator(model);
  Trace result;
  run_traces(simulator, 1, prior_guide(), [&](std::uint64_t, Trace& trace) { result = trace; },
             {.seed = seed, .observations = observations, .keep_distributions = true}, {1, 1});
  // Addresses live in the simulator, which ends here: keep only what does not point there.
  for (Entry& entry : result.entries) entry.address = nullptr;
  return result;
}

std::vector<std::string> addresses(const std::function<void(Context&)>& program) {
  InProcess simulator(Model("m", program));
  std::vector<std::string> texts;
  run_traces(simulator, 1, prior_guide(),
             [&](std::uint64_t, Trace& trace) {
               for (const Entry& entry : trace.entries) texts.push_back(entry.address->text);
             },
             {.seed = 1}, {1, 1});
  return texts;
}

TEST(Context, AddressesCountInstances) {
  EXPECT_EQ(addresses([](Context& ctx) {
              for (int i = 0; i < 2; ++i) ctx.sample(Normal(0, 1), {.name = "a"});
              for (int i = 0; i < 2; ++i) ctx.sample(Bernoulli(0.5), {.name = "b", .index = i});
              ctx.sample(Beta(1, 1), {.name = "a"});
              ctx.observe(Normal(0, 1), {.name = "a"});
              ctx.tag(3, {.name = "t"});
              ctx.factor(-1, {.name = "f"});
              ctx.observe_value(2, {.name = "y", .index = 3});
            }),
            (std::vector<std::string>{"a__Normal__1", "a__Normal__2", "b_0__Bernoulli__1",
                                      "b_1__Bernoulli__1", "a__Beta__1", "a__Normal__3",
                                      "t__Tag__1", "f__Factor__1", "y_3__Observe__1"}));
}

TEST(Context, ScopesNest) {
  EXPECT_EQ(addresses([](Context& ctx) {
              ctx.sample(Normal(0, 1), {.name = "x"});
              for (int layer = 0; layer < 2; ++layer) {
                const auto outer = ctx.scope("layer", layer);
                ctx.sample(Normal(0, 1), {.name = "x"});
                const auto inner = ctx.scope("cell");
                ctx.sample(Normal(0, 1), {.name = "x"});
              }
              ctx.sample(Normal(0, 1), {.name = "x"});
            }),
            (std::vector<std::string>{"x__Normal__1", "layer_0/x__Normal__1",
                                      "layer_0/cell/x__Normal__1", "layer_1/x__Normal__1",
                                      "layer_1/cell/x__Normal__1", "x__Normal__2"}));
}

TEST(Context, UnnamedChoicesAreAddressedByPlace) {
  const auto texts = addresses([](Context& ctx) {
    for (int i = 0; i < 2; ++i) ctx.sample(Normal(0, 1));
    ctx.sample(Normal(0, 1));
  });
  EXPECT_TRUE(texts[0].starts_with("context.cpp:"));
  EXPECT_EQ(texts[0].substr(0, texts[0].size() - 1), texts[1].substr(0, texts[1].size() - 1));
  EXPECT_TRUE(texts[1].ends_with("__2"));
  EXPECT_TRUE(texts[2].ends_with("__1"));
}

TEST(Context, AmbientFunctionsReachTheRunningSimulation) {
  EXPECT_EQ(
      addresses([](Context&) {
        sample(Normal(0, 1), {.name = "a"});
        observe(Normal(0, 1), {.name = "b"});
        tag(1, {.name = "c"});
        factor(0, {.name = "d"});
      }),
      (std::vector<std::string>{"a__Normal__1", "b__Normal__1", "c__Tag__1", "d__Factor__1"}));
  EXPECT_THROW(sample(Normal(0, 1)), ModelError);
}

TEST(Context, ObserveReturnsWhatWasGivenOrDrawn) {
  const Model model("m", [](Context& ctx) {
    const double own = ctx.observe(Normal(0, 1), 2.0, {.name = "own"});
    const double none = ctx.observe(Normal(0, 1), {.name = "none"});
    return Value{own, none};
  });
  const Trace forward = one_trace(model);  // simulating: everything is drawn
  EXPECT_NE(forward.result[0], 2.0);
  EXPECT_EQ(forward.log_weight, 0);
  EXPECT_EQ(forward.log_likelihood, 0);

  const Observations nothing;
  const Trace conditioned = one_trace(model, &nothing);  // its own data counts
  EXPECT_EQ(conditioned.result[0], 2.0);
  EXPECT_NE(conditioned.result[1], 2.0);
  EXPECT_NEAR(conditioned.log_likelihood, Distribution(Normal(0, 1)).log_prob(2.0), 1e-15);

  const Observations both{{"own", Value(3.0)}, {"none", Value(4.0)}};
  const Trace given = one_trace(model, &both);  // the user's beats the program's
  EXPECT_EQ(given.result, (Value{3, 4}));
}

TEST(Context, DensitiesAddUp) {
  const Model model("m", [](Context& ctx) {
    const double a = ctx.sample(Normal(0, 1), {.name = "a"});
    ctx.sample(Beta(2, 2), {.name = "b", .control = false});
    ctx.observe(Normal(a, 2), {.name = "y"});
    ctx.factor(-0.75, {.name = "f"});
    ctx.tag(a, {.name = "t"});
  });
  const Observations data{{"y", Value(1.0)}};
  const Trace trace = one_trace(model, &data);
  ASSERT_EQ(trace.entries.size(), 5u);
  double joint = 0;
  for (const Entry& entry : trace.entries) {
    if (entry.distribution) {
      EXPECT_NEAR(entry.log_prob, entry.distribution->log_prob(entry.value), 1e-15);
    }
    joint += entry.log_prob;
  }
  EXPECT_NEAR(trace.log_joint, joint, 1e-12);
  EXPECT_NEAR(trace.log_likelihood, trace.entries[2].log_prob - 0.75, 1e-12);
  EXPECT_NEAR(trace.log_weight, trace.log_likelihood, 1e-12);  // drawn from the prior
  EXPECT_EQ(trace.length(), 3u);
  EXPECT_TRUE(trace.entries[2].given);
  EXPECT_FALSE(trace.entries[1].control);
}

}  // namespace
}  // namespace psn
