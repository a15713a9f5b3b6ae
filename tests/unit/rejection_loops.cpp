// Which loops look like rejection, and which do not.
#include "psn/report/rejection_loops.h"

#include <gtest/gtest.h>

#include "psn/core/in_process.h"
#include "psn/core/run.h"

namespace psn {
namespace {

std::vector<RejectionLoop> loops_of(const std::function<Value(Context&)>& program,
                                    bool follows = false) {
  InProcess simulator(Model("loops", program));
  RejectionLoops loops;
  run_traces(
      simulator, 1'000, [&] { return std::make_unique<PriorGuide>(follows); },
      [&](std::uint64_t, Trace& trace) { loops.add(trace); },
      {.seed = 3, .keep_distributions = true}, {16, 1});
  return loops.found();
}

void disc(Context& ctx, bool by_until) {
  ctx.sample(Normal(0, 1), {.name = "before"});
  const auto body = [&] {
    return Value{ctx.sample(Uniform(-1, 1), {.name = "u"}).scalar(),
                 ctx.sample(Uniform(-1, 1), {.name = "v"}).scalar()};
  };
  const auto accept = [](const Value& p) { return p[0] * p[0] + p[1] * p[1] < 0.5; };
  if (by_until) {
    ctx.until(body, accept);
  } else {
    while (!accept(body())) {
    }
  }
  ctx.observe(Normal(0, 1), {.name = "y"});
}

TEST(RejectionLoopsOfTraces, AreFound) {
  const auto loops = loops_of([](Context& ctx) -> Value {
    disc(ctx, false);
    return {};
  });
  ASSERT_EQ(loops.size(), 1u);
  EXPECT_EQ(loops[0].choices, (std::vector<std::string>{"u", "v"}));
  // Accepted with probability pi / 8: so many rounds if there is more than one.
  EXPECT_NEAR(loops[0].rounds, 1 + 8 / M_PI, 0.4);
  EXPECT_NEAR(static_cast<double>(loops[0].traces), 1'000 * (1 - M_PI / 8), 80);
}

TEST(RejectionLoopsOfTraces, AreNotThoseThatSaySo) {
  const auto program = [](Context& ctx) -> Value {
    disc(ctx, true);
    return {};
  };
  EXPECT_TRUE(loops_of(program, true).empty());
  EXPECT_EQ(loops_of(program, false).size(), 1u);
}

TEST(RejectionLoopsOfTraces, AreNoOtherLoops) {
  const auto loops = loops_of([](Context& ctx) -> Value {
    // So many draws as was drawn before; a walk; a list; a number of rounds that counts.
    const auto n = ctx.sample(Poisson(4), {.name = "n"}).integer();
    for (int i = 0; i < n; ++i) ctx.sample(Normal(0, 1), {.name = "plate"});
    double x = 0;
    while (x < 2) x = ctx.sample(Normal(x + 0.5, 1), {.name = "walk"}).scalar();
    for (int i = 0; i < 5; ++i) ctx.sample(Uniform(0, 1), {.name = "list", .index = i});
    while (ctx.sample(Bernoulli(0.6), {.name = "on"}) == 1) {
    }
    return {};
  });
  EXPECT_TRUE(loops.empty()) << loops[0].choices[0];
}

}  // namespace
}  // namespace psn
