// Engines that are stopped again and again, and go on in another process's stead: the result is
// that of one run, to the bit.
#include <gtest/gtest.h>

#include "psn/base/error.h"
#include "psn/core/in_process.h"
#include "psn/infer/importance.h"
#include "psn/infer/metropolis.h"

namespace psn {
namespace {

constexpr int kNever = 1 << 30;

// Choices of every kind; asks for a stop once so many runs have begun.
struct Stopping {
  Monitor monitor;
  std::atomic<int> runs_left{kNever};
  InProcess simulator{Model("loops", [this](Context& ctx) {
    if (--runs_left == 0) monitor.stop.store(true);
    const double mu = ctx.sample(Normal(0, 1), {.name = "mu"});
    const Value both = ctx.sample(Uniform(Value{0, 1}, Value{2, 3}), {.name = "both"});
    double sum = mu + both[0] + both[1];
    for (int i = 0; ctx.sample(Bernoulli(0.4), {.name = "on", .index = i}) == 1; ++i) {
      sum += ctx.sample(Exponential(1), {.name = "step", .index = i});
    }
    sum += ctx.sample(Normal(0, 0.1), {.name = "noise", .control = false});
    ctx.tag(sum, {.name = "sum"});
    ctx.observe(Normal(sum, 1), {.name = "x"});
    return Value(2 * sum);
  })};
};

enum class Engine { kImportance, kLmh, kRmh };

struct Outcome {
  std::string posterior, draws;
  double acceptance = 0;
  std::uint64_t iterations = 0;
};

Outcome infer(Stopping& stopping, Engine engine, const Parallelism& parallelism,
              const EngineState* resume, EngineWindow* window, std::uint64_t samples = 1'200,
              std::uint64_t stride = 0) {
  MetropolisOptions options;
  options.samples = samples;
  options.stride = stride;
  options.queries = {{.name = "mu"},
                     {.name = "both", .shape = {2}},
                     {.name = "step_0"},
                     {.name = "twice", .compute = [](const Trace& t) { return t.result; }}};
  options.seed = 5;
  options.parallelism = parallelism;
  options.monitor = &stopping.monitor;
  options.resume = resume;
  options.window = window;
  options.chains = 6;
  options.burn_in = 40;
  options.thinning = 2;
  options.random_walk = engine == Engine::kRmh;
  Draws draws(5, {.draws = 100});
  options.draws = &draws;
  const Observations data{{"x", Value(4.0)}};
  if (engine == Engine::kImportance) {
    const Posterior posterior = importance_sampling(stopping.simulator, data, options);
    return {posterior.serialize(), draws.serialize()};
  }
  const MetropolisResult result = metropolis_hastings(stopping.simulator, data, options);
  return {result.posterior.serialize(), draws.serialize(), result.acceptance, result.iterations};
}

class EngineResume : public testing::TestWithParam<Engine> {};

TEST_P(EngineResume, GivesTheResultOfOneRun) {
  Stopping whole;
  const Outcome expected = infer(whole, GetParam(), {1, 1}, nullptr, nullptr);
  std::optional<std::string> kept;
  int stops = 0;
  for (;; ++stops) {
    ASSERT_LT(stops, 100);
    // Every time a new simulator, whose addresses have other numbers.
    Stopping part;
    std::optional<EngineState> begun;
    if (kept) {
      begun = EngineState::from_file(
          TensorFile::parse(*kept, "kept", EngineState::kKind, EngineState::kVersion),
          part.simulator.addresses(), "kept");
    }
    part.runs_left = 137;
    EngineWindow window;
    try {
      const Outcome outcome = infer(part, GetParam(), {3, 2}, begun ? &*begun : nullptr, &window);
      EXPECT_TRUE(outcome.posterior == expected.posterior);
      EXPECT_TRUE(outcome.draws == expected.draws);
      EXPECT_EQ(outcome.acceptance, expected.acceptance);
      EXPECT_EQ(outcome.iterations, expected.iterations);
      break;
    } catch (const Interrupted&) {
      const auto state = window.look();
      ASSERT_TRUE(state);
      EXPECT_GT(state->traces(), begun ? begun->traces() : 0);
      kept = state->to_file().serialize();
    }
  }
  EXPECT_GE(stops, 8);
}

// Begun with fewer samples, and gone on with to more of them.
TEST_P(EngineResume, GoesOnToMoreSamples) {
  constexpr std::uint64_t kStride = std::uint64_t{1} << 32;
  Stopping whole;
  const Outcome expected = infer(whole, GetParam(), {1, 1}, nullptr, nullptr, 1'200, kStride);
  Stopping part;
  EngineWindow window;
  window.keep_end();
  std::optional<EngineState> begun;
  for (const std::uint64_t samples : {6, 240, 600, 1'200}) {
    const Outcome outcome =
        infer(part, GetParam(), {3, 2}, begun ? &*begun : nullptr, &window, samples, kStride);
    begun = window.look();
    ASSERT_TRUE(begun);
    EXPECT_EQ(begun->samples, samples);
    EXPECT_EQ(begun->rows.size(), samples);
    if (samples < 1'200) continue;
    EXPECT_TRUE(outcome.posterior == expected.posterior);
    EXPECT_TRUE(outcome.draws == expected.draws);
    EXPECT_EQ(outcome.iterations, expected.iterations);
  }
}

INSTANTIATE_TEST_SUITE_P(All, EngineResume,
                         testing::Values(Engine::kImportance, Engine::kLmh, Engine::kRmh));

TEST(ResumedEngines, OtherQuantitiesAreRefused) {
  Stopping stopping;
  EngineState other;
  other.posterior = Posterior({{.name = "nu"}}, 1);
  other.rows = {0};
  EXPECT_THROW(infer(stopping, Engine::kImportance, {1, 1}, &other, nullptr), InvalidArgument);
  EXPECT_THROW(infer(stopping, Engine::kLmh, {1, 1}, &other, nullptr), InvalidArgument);
}

}  // namespace
}  // namespace psn
