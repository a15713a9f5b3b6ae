// Vectors that an inference network proposes component by component.
#include <gtest/gtest.h>

#include <cmath>

#include "psn/core/in_process.h"
#include "psn/train/gradient.h"
#include "psn/train/growth.h"
#include "tests/law/inference_fixture.h"
#include "tests/law/statistics.h"

namespace psn {
namespace {

// A vector of every domain whose components are independent a priori and hang together given y.
Value vectors(Context& ctx) {
  const Value a = ctx.sample(Normal(Value{0, 1, -1}, Value{1, 2, 1}), {.name = "a"});
  const Value u = ctx.sample(Uniform(Value{-1, 0}, Value{1, 4}), {.name = "u"});
  const Value g = ctx.sample(Gamma(Value{2, 3}, 1), {.name = "g"});
  const Value n = ctx.sample(Poisson(Value{3, 5, 2}), {.name = "n"});
  const Value b = ctx.sample(Bernoulli(Value{0.3, 0.6}), {.name = "b"});
  const double sum = a[0] + a[1] + a[2] + u[0] * u[1] + g[0] - g[1] + n[0] + n[1] + n[2] + b[0];
  ctx.observe(Normal(sum, 1), {.name = "y"});
  ctx.observe(Normal(b[1] - a[0], 0.5), {.name = "z"});
  return sum;
}

// All that was proposed is in the weight once, with and without a share of whole traces from the
// model.
TEST(SequentialProposals, WeightsAreTheRatioOfFinishedTraces) {
  InProcess simulator({"vectors", vectors});
  const auto network = train(simulator, Purpose::kInference, 3'000);
  std::size_t sequential = 0;
  for (NodeId id = 0; id < network->size(); ++id)
    sequential += network->node(id).follow != kNoBlock;
  ASSERT_EQ(sequential, 5u);
  const Observations data{{"y", Value(9.0)}, {"z", Value(0.4)}};
  for (const double defensive : {0.0, 0.2}) {
    EngineOptions options = engine_options(300, {});
    options.keep_traces = true;
    const auto posterior = compiled_inference(simulator, network, data, options, defensive);
    expect_weights_are_ratios(*network, posterior.traces(), defensive, 5e-4);
  }
}

// Two Uniforms of which only the sum was measured: the posterior is a narrow band, which no product
// of proposals for each can have. Exact by symmetry and quadrature over the sum.
Value band(Context& ctx) {
  const Value u = ctx.sample(Uniform(Value{0, 0}, Value{1, 1}), {.name = "u"});
  ctx.observe(Normal(u[0] + u[1], 0.05), {.name = "sum"});
  return u[0] - u[1];
}

TEST(SequentialProposals, FollowWhatTheyHaveDrawn) {
  InProcess simulator({"band", band});
  const auto network = train(simulator, Purpose::kInference, 30'000);
  const Observations data{{"sum", Value(0.7)}};
  const auto posterior =
      compiled_inference(simulator, network, data, engine_options(10'000, {{"u", {2}}}));
  // A product of two proposals is at best uniform over [0, .7] each: its share is below .15.
  EXPECT_GT(posterior.effective_sample_size(), 7'000);
  // Along the band u_0 is uniform on [0, s], where s is the sum; near .7 its density is s N(s).
  const double s_mean = 0.7 + 0.05 * 0.05 / 0.7;  // mean of s N(s; .7, .05), far from 0 and 1
  const double sd = 0.7 / std::sqrt(12.0);
  const double error = 4.9 * sd / std::sqrt(posterior.effective_sample_size());
  EXPECT_NEAR(posterior.mean("u", 0), s_mean / 2, error);
  EXPECT_NEAR(posterior.mean("u", 1), s_mean / 2, error);
}

TEST(SequentialProposals, StartWithPartsThatLieApart) {
  InProcess simulator({"vectors", vectors});
  const auto network = train(simulator, Purpose::kInference, 32);  // one update
  for (NodeId id = Network::kEnd + 1; id < network->size(); ++id) {
    const Node& node = network->node(id);
    if (network->is_observation(id) || node.proposal.kind == Domain::kCategory) continue;
    const Block& last = network->parameters().block(node.value_layers.back());
    const float* bias = network->parameters().values(node.value_layers.back()) + last.columns - 1;
    const std::size_t k = node.proposal.mixture;
    const auto mean = [&](std::size_t c) { return bias[(1 + k + 2 * c) * last.columns]; };
    EXPECT_NEAR(mean(0), -1.645, 0.05);
    EXPECT_NEAR(mean(k - 1), 1.645, 0.05);
  }
}

// Numbers far out count by their logarithm, near ones as they are: an outlier moves a proposal, but
// does not blow it up.
TEST(SequentialProposals, FarObservationsAreCompressed) {
  InProcess simulator({"vectors", vectors});
  const auto network = train(simulator, Purpose::kInference, 2'000);
  for (const double far : {1e3, 1e9}) {
    const Observations data{{"y", Value(far)}, {"z", Value(0.0)}};
    const auto posterior =
        compiled_inference(simulator, network, data, engine_options(200, {{"a", {3}}}));
    for (const double w : posterior.log_weights()) EXPECT_FALSE(std::isnan(w));
  }
}

}  // namespace
}  // namespace psn
