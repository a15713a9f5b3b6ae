// Runs out of which the program throws: counted, limited, left out, and nothing else disturbed.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <stdexcept>

#include "psn/base/error.h"
#include "psn/core/failure_log.h"
#include "psn/core/in_process.h"
#include "psn/infer/importance.h"
#include "psn/infer/metropolis.h"
#include "psn/train/stream.h"

namespace psn {
namespace {

// Throws from within a scope, with a choice still to come, if u < share. Otherwise u is its result.
Model unlucky(double share, std::shared_ptr<int> token = nullptr) {
  return {"unlucky", [=](Context& ctx) {
            const auto held = token;
            const auto scope = ctx.scope("inner");
            const double u = ctx.sample(Uniform(0, 1), {.name = "u"});
            const double v = ctx.sample(Normal(u, 1), {.name = "v"});
            if (u < share) throw std::runtime_error("bad\nluck \x1b[31m");
            ctx.sample(Normal(v, 1), {.name = "w"});
            return Value(u);
          }};
}

std::string error_of(FailureLog& log, int runs) {
  try {
    for (int i = 0; i < runs; ++i) log.add(i, i % 2 ? "died" : "hung", "the story");
  } catch (const ModelError& error) {
    return error.what();
  }
  return "";
}

TEST(FailureLog, GivesUpAboveItsLimit) {
  FailureLog none(0), few(3), many(1'000'000);
  EXPECT_EQ(error_of(none, 1), "the story");
  EXPECT_EQ(error_of(none, 1), "the story");
  EXPECT_EQ(error_of(few, 3), "");
  few.forget();
  EXPECT_EQ(error_of(few, 4),
            "4 runs of the simulator failed (2 died, 2 hung), more than the 3 allowed; the story");
  EXPECT_EQ(error_of(many, 999), "");
  EXPECT_EQ(error_of(many, 1),
            "1000 runs of the simulator failed (499 died, 501 hung), and none succeeded; the "
            "story");
  many.forget();
  many.succeeded();
  EXPECT_EQ(error_of(many, 2000), "");
}

TEST(FailureLog, WaitsForEachSimulationSideBySide) {
  FailureLog log(1'000);
  log.enter(30);
  EXPECT_EQ(error_of(log, 299), "");
  EXPECT_NE(error_of(log, 1), "");
  log.leave(30);
  log.forget();
  EXPECT_NE(error_of(log, 100), "");
}

TEST(FailureLog, TheLastIsTheLastByNumber) {
  FailureLog log(10);
  for (const int trace : {3, 7, 5}) log.add(trace, "threw", "trace " + std::to_string(trace));
  EXPECT_EQ(log.failures().last, "trace 7");
}

TEST(InProcess, ExceptionsAreCountedAndTheRestIsAsWithoutThem) {
  EngineOptions options;
  options.samples = 2000;
  options.queries = {{"u"}, {"v"}, {"w"}};
  options.keep_traces = true;
  auto token = std::make_shared<int>(0);
  for (const Parallelism p : {Parallelism{1, 1}, {64, 1}, {7, 3}}) {
    options.parallelism = p;
    InProcess simulator(unlucky(0.3, token), 1000), lucky(unlucky(0));
    const auto before = token.use_count();
    const Posterior posterior = simulate(simulator, options), all = simulate(lucky, options);
    EXPECT_EQ(token.use_count(), before);
    const Failures failures = simulator.failures();
    EXPECT_EQ(posterior.size() + failures.runs, options.samples);
    EXPECT_EQ(failures.by_cause.at("threw"), failures.runs);
    std::size_t j = 0;
    std::uint64_t last = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all.value("u", i) < 0.3) {
        last = i;
        continue;
      }
      for (const char* name : {"u", "v", "w"}) {
        ASSERT_EQ(posterior.value(name, j), all.value(name, i));
      }
      EXPECT_EQ(posterior.traces()[j].entries[2].address->text, "inner/w__Normal__1");
      ++j;
    }
    EXPECT_EQ(j, posterior.size());
    EXPECT_EQ(failures.last, "model 'unlucky', trace " + std::to_string(last) +
                                 ", after 'inner/v__Normal__1': bad luck \\x1b[31m");
  }
}

TEST(InProcess, AboveTheLimitTheWorkIsGivenUp) {
  EngineOptions options;
  options.samples = 100'000;
  options.parallelism = {64, 1};
  InProcess often(unlucky(0.3), 50), always(unlucky(2), 1000);
  try {
    simulate(often, options);
    FAIL();
  } catch (const ModelError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("51 runs of the simulator failed (51 threw), more than the 50 allowed"),
              std::string::npos)
        << text;
  }
  options.parallelism = {4, 1};
  try {
    simulate(always, options);
    FAIL();
  } catch (const ModelError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("100 runs of the simulator failed (100 threw), and none succeeded"),
              std::string::npos)
        << text;
  }
}

// What no program may do is not a matter of luck.
TEST(InProcess, ErrorsOfPsnEndTheWork) {
  InProcess simulator(Model("m",
                            [](Context& ctx) {
                              const double u = ctx.sample(Uniform(0, 1), {.name = "u"});
                              if (u < 0.5) ctx.sample(Uniform(0, 1), {.name = "a\n"});
                            }),
                      1000);
  EngineOptions options;
  EXPECT_THROW(simulate(simulator, options), ModelError);
  EXPECT_EQ(simulator.failures().runs, 0u);
}

// p(x | success, y) by enumeration; five standard errors, with a fourth of the draws of a chain
// counted as independent (false alarms: one in a million for each).
TEST(InProcess, PosteriorsAreGivenSuccess) {
  const Model model("m", [](Context& ctx) {
    const double x = ctx.sample(Categorical({0.2, 0.5, 0.3}), {.name = "x"});
    if (x == 2) throw std::domain_error("two");
    ctx.observe(Normal(x, 1), {.name = "y"});
  });
  const Observations data{{"y", Value(1.5)}};
  double mass[2];
  for (const int x : {0, 1})
    mass[x] = (x ? 0.5 : 0.2) * std::exp(Distribution(Normal(x, 1)).log_prob(1.5));
  const double p = mass[1] / (mass[0] + mass[1]);
  MetropolisOptions options;
  options.samples = 20'000;
  options.queries = {{"x"}};
  InProcess simulator(model, 100'000);
  const double tolerance = 5 * std::sqrt(p * (1 - p) / (options.samples / 4.0));
  EXPECT_NEAR(importance_sampling(simulator, data, options).mean("x"), p, tolerance);
  EXPECT_NEAR(metropolis_hastings(simulator, data, options).posterior.mean("x"), p, tolerance);
  EXPECT_GT(simulator.failures().runs, 5'000u);
}

TEST(TraceStream, DrawsAnotherTraceForOneThatFailed) {
  std::vector<std::vector<double>> values;
  for (const std::size_t threads : {1, 3}) {
    InProcess simulator(unlucky(0.3), 1000);
    TraceStream stream(simulator, {.seed = 3, .count = 500, .parallelism = {16, threads}});
    std::vector<Trace> traces;
    auto& taken = values.emplace_back();
    for (stream.take(50, traces); !traces.empty(); stream.take(50, traces)) {
      for (const Trace& trace : traces) taken.push_back(trace["u"].scalar());
    }
    EXPECT_EQ(taken.size(), 500u);
    for (const double u : taken) EXPECT_GE(u, 0.3);
    EXPECT_GT(simulator.failures().runs, 100u);
  }
  EXPECT_EQ(values[0], values[1]);
}

}  // namespace
}  // namespace psn
