// Evidence beside the usual: observations at latents, and vectors of which not all was measured.
// Exact answers by conjugacy and enumeration.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/law/exact_engines.h"

namespace psn {
namespace {

double log_normal(double x, double mean, double variance) {
  return Distribution(Normal(mean, std::sqrt(variance))).log_prob(x);
}

class Conditioning : public testing::TestWithParam<ExactEngine> {};

// a -> b -> c -> x, each a unit step: given b, the halves are independent.
TEST_P(Conditioning, OnALatentInAChain) {
  for (const bool control : {true, false}) {
    const Model model("chain", [&](Context& ctx) {
      const double a = ctx.sample(Normal(0, 1), {.name = "a"});
      const double b = ctx.sample(Normal(a, 1), {.name = "b", .control = control});
      const double c = ctx.sample(Normal(b, 1), {.name = "c"});
      ctx.observe(Normal(c, 1), {.name = "x"});
    });
    const Observations data{{"b", Value(1.5)}, {"x", Value(3.0)}};
    const auto posterior = infer(GetParam(), model, data, {{"a"}, {"b"}, {"c"}});
    expect_moments(posterior, "a", 0.75, std::sqrt(0.5));
    expect_moments(posterior, "c", 2.25, std::sqrt(0.5));
    EXPECT_NEAR(posterior.mean("b"), 1.5, 1e-9);
    expect_log_evidence(posterior, log_normal(1.5, 0, 2) + log_normal(3, 1.5, 2));
  }
}

// The latent that decides which choices there are.
TEST_P(Conditioning, OnABranch) {
  const Model model("branch", [](Context& ctx) {
    const bool wide = ctx.sample(Bernoulli(0.2), {.name = "wide"}) == 1;
    double z = ctx.sample(Normal(0, 1), {.name = "z"});
    if (wide) z += ctx.sample(Normal(0, 2), {.name = "more"}).scalar();
    ctx.observe(Normal(z, 1), {.name = "x"});
  });
  const Observations data{{"wide", Value(1.0)}, {"x", Value(3.0)}};
  const auto posterior = infer(GetParam(), model, data, {{"z"}, {"more"}});
  expect_moments(posterior, "z", 3 * 1.0 / 6, std::sqrt(1 - 1.0 / 6));
  expect_moments(posterior, "more", 3 * 4.0 / 6, std::sqrt(4 - 16.0 / 6));
  expect_log_evidence(posterior, std::log(0.2) + log_normal(3, 0, 6));
}

// What was not measured is no evidence, and the program goes on with draws of it.
TEST_P(Conditioning, OnAVectorWithGaps) {
  const Model model("gaps", [](Context& ctx) {
    const double mu = ctx.sample(Normal(0, 1), {.name = "mu"});
    const Value y = ctx.observe(Normal(mu, Value{1, 2, 0.5}), {.name = "y"});
    ctx.observe(Normal(y[1], 1), {.name = "x"});
  });
  // The gap's own consequence is seen: mu | y0, y2 ~ Normal, and x is that plus variance 4 + 1.
  const Observations data{{"y", Value{1.2, kNaN, 0.7}}, {"x", Value(2.0)}};
  const double precision = 1 + 1 + 4, mean = (1.2 + 4 * 0.7) / precision, before = 1 / precision;
  const Query gap{"gap", {}, [](const Trace& trace) { return Value(trace["y"][1]); }};
  const auto posterior = infer(GetParam(), model, data, {{"mu"}, gap});
  const double gain = before / (before + 5);
  expect_moments(posterior, "mu", mean + gain * (2 - mean), std::sqrt(before * (1 - gain)));
  const double gap_gain = (before + 4) / (before + 5);
  expect_moments(posterior, "gap", mean + gap_gain * (2 - mean), std::sqrt(gap_gain));
  // y0, then y2 given it, then x given both.
  expect_log_evidence(posterior, log_normal(1.2, 0, 2) + log_normal(0.7, 0.6, 0.5 + 0.25) +
                                     log_normal(2, mean, before + 5));
}

// A series with a hole: the site is drawn, like an observation that nobody gave.
TEST_P(Conditioning, OnASeriesWithAHole) {
  const Model model("series", [](Context& ctx) {
    double at = 0;
    for (int t = 0; t < 3; ++t) {
      at = ctx.observe(Normal(at, 1), std::optional(Value(9.0)), {.name = "y", .index = t});
    }
  });
  // y1 given its neighbours; the program's own data must not come back into the hole.
  const Observations data{{"y", Value{1, kNaN, 2}}};
  const auto posterior = infer(GetParam(), model, data, {{"y_1"}});
  expect_moments(posterior, "y_1", 1.5, std::sqrt(0.5));
  expect_log_evidence(posterior, log_normal(1, 0, 1) + log_normal(2, 1, 2));
}

INSTANTIATE_TEST_SUITE_P(All, Conditioning,
                         testing::Values(ExactEngine::kImportance, ExactEngine::kLmh,
                                         ExactEngine::kRmh),
                         [](const auto& engine) {
                           if (engine.param == ExactEngine::kImportance) return "Importance";
                           return engine.param == ExactEngine::kLmh ? "LMH" : "RMH";
                         });

}  // namespace
}  // namespace psn
