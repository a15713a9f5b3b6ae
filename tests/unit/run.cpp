// run() over the in-process ensemble: order, errors, limits, independence of width and threads.
#include "psn/core/run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <thread>

#include "experiments/control_flow/control_flow.h"
#include "psn/base/error.h"
#include "psn/core/in_process.h"
#include "psn/infer/importance.h"

namespace psn {
namespace {

std::string error_of(const std::function<void(Context&)>& program, RunOptions options = {}) {
  InProcess simulator(Model("faulty", program));
  try {
    run_traces(simulator, 10, prior_guide(), [](std::uint64_t, Trace&) {}, options, {4, 1});
  } catch (const ModelError& error) {
    return error.what();
  }
  return "";
}

TEST(Run, EveryTraceRunsOnce) {
  for (const Parallelism p : {Parallelism{1, 1}, {64, 1}, {3, 2}, {64, 4}}) {
    InProcess simulator(control_flow::model());
    std::vector<int> seen(500);
    run_traces(
        simulator, seen.size(), prior_guide(), [&](std::uint64_t i, Trace&) { ++seen[i]; }, {}, p);
    EXPECT_EQ(seen, std::vector<int>(500, 1));
  }
}

TEST(Run, ATraceIsAFunctionOfSeedAndIndexAlone) {
  std::vector<std::vector<double>> reference;
  for (const Parallelism p : {Parallelism{1, 1}, {7, 1}, {64, 2}, {512, 3}}) {
    InProcess simulator(control_flow::model());
    std::vector<std::vector<double>> values(300);
    run_traces(
        simulator, values.size(), prior_guide(),
        [&](std::uint64_t i, Trace& trace) {
          for (const Entry& entry : trace.entries) values[i].push_back(entry.value);
          values[i].push_back(trace.log_joint);
        },
        {.seed = 5}, p);
    if (reference.empty()) reference = values;
    EXPECT_EQ(values, reference);
  }
}

TEST(Run, BadParametersNameAddressAndValue) {
  EXPECT_EQ(error_of([](Context& ctx) { ctx.sample(Normal(0, -2), {.name = "a"}); }),
            "trace 0, address 'a__Normal__1': Normal(mean=0, stddev=-2): stddev must be positive "
            "and finite");
  EXPECT_NE(error_of([](Context& ctx) {
              ctx.observe(Normal(kNaN, 1), {.name = "y"});
            }).find("address 'y__Normal__1': Normal(mean=nan, stddev=1)"),
            std::string::npos);
  EXPECT_NE(error_of([](Context& ctx) { ctx.factor(kNaN, {.name = "f"}); }).find("factor of nan"),
            std::string::npos);
}

TEST(Run, NaNIsAnErrorWhereItArises) {
  EXPECT_NE(
      error_of([](Context& ctx) { ctx.tag(kNaN, {.name = "t"}); }).find("'t__Tag__1': tag of nan"),
      std::string::npos);
  InProcess simulator(Model("m", [](Context&) { return Value(kNaN); }));
  EXPECT_THROW(run_traces(simulator, 1, prior_guide(), [](std::uint64_t, Trace&) {}, {}, {1, 1}),
               ModelError);
  const Observations at_zero{{"y", Value(0.0)}};
  EXPECT_NE(error_of([](Context& ctx) { ctx.observe(Gamma(0.5, 1), {.name = "y"}); },
                     {.observations = &at_zero})
                .find("has log density inf"),
            std::string::npos);
}

// A program that catches everything and tries again cannot be unwound; it is given up.
TEST(Run, AProgramThatSwallowsEverythingDoesNotHang) {
  const std::string error = error_of([](Context& ctx) {
    const double u = ctx.sample(Uniform(0, 1), {.name = "u"});
    if (u < 0.3) throw std::runtime_error("unlucky");
    for (;;) {
      try {
        ctx.sample(Normal(0, 1), {.name = "again"});
      } catch (...) {
      }
    }
  });
  EXPECT_NE(error.find("unlucky"), std::string::npos) << error;
}

TEST(Run, NamesMustBePrintable) {
  EXPECT_NE(error_of([](Context& ctx) {
              ctx.sample(Normal(0, 1), {.name = "a\xff"});
            }).find("'a\\xff__Normal' is not printable UTF-8"),
            std::string::npos);
}

TEST(Run, ExceptionsCarryTheLastAddress) {
  EXPECT_EQ(error_of([](Context& ctx) {
              ctx.sample(Normal(0, 1), {.name = "a"});
              throw std::runtime_error("no convergence");
            }),
            "model 'faulty', trace 0, after 'a__Normal__1': no convergence");
  EXPECT_EQ(error_of([](Context&) { throw 42; }),
            "model 'faulty', trace 0, before its first choice: an exception that is no "
            "std::exception");
}

// The other simulations of the ensemble are in the middle of things when one fails.
TEST(Run, AFailureUnwindsTheOthers) {
  auto token = std::make_shared<int>(0);
  InProcess simulator(Model("m", [token](Context& ctx) {
    const auto held = token;
    const double u = ctx.sample(Uniform(0, 1), {.name = "u"});
    ctx.sample(Uniform(0, 1), {.name = "v"});
    if (u < 0.2) throw std::runtime_error("unlucky");
    for (int i = 0; i < 5; ++i) ctx.sample(Uniform(0, 1), {.name = "w"});
  }));
  const auto before = token.use_count();
  EXPECT_THROW(
      run_traces(simulator, 1000, prior_guide(), [](std::uint64_t, Trace&) {}, {}, {32, 2}),
      ModelError);
  EXPECT_EQ(token.use_count(), before);
}

TEST(Run, LengthIsLimited) {
  const std::string error = error_of(
      [](Context& ctx) {
        for (;;) ctx.sample(Normal(0, 1), {.name = "x"});
      },
      {.max_length = 100});
  EXPECT_NE(error.find("'x__Normal__101': the trace is longer than 100 choices"), std::string::npos)
      << error;
}

TEST(Run, LongTracesAreFine) {
  InProcess simulator(Model("long", [](Context& ctx) {
    for (int i = 0; i < 200'000; ++i) ctx.sample(Normal(0, 1), {.name = "x"});
  }));
  std::size_t length = 0;
  run_traces(simulator, 1, prior_guide(),
             [&](std::uint64_t, Trace& trace) { length = trace.length(); }, {}, {1, 1});
  EXPECT_EQ(length, 200'000u);
}

TEST(Run, AModelThatIsNotReentrantRunsAlone) {
  int under_way = 0;
  int most = 0;
  Model model("static state", [&](Context& ctx) {
    most = std::max(most, ++under_way);
    ctx.sample(Normal(0, 1), {.name = "x"});
    --under_way;
  });
  model.reentrant = false;
  InProcess simulator(model);
  run_traces(simulator, 100, prior_guide(), [](std::uint64_t, Trace&) {}, {}, {64, 8});
  EXPECT_EQ(most, 1);
}

TEST(Run, StopsWhenAsked) {
  InProcess simulator(control_flow::model());
  Monitor monitor;
  std::thread stopper([&] {
    while (monitor.traces.load() < 10) std::this_thread::yield();
    monitor.stop.store(true);
  });
  EXPECT_THROW(run_traces(simulator, ~0ul >> 8, prior_guide(), [](std::uint64_t, Trace&) {},
                          {.monitor = &monitor}, {8, 2}),
               Interrupted);
  stopper.join();
}

TEST(Run, ErrorsOfTheSinkSurface) {
  InProcess simulator(control_flow::model());
  EXPECT_THROW(run_traces(simulator, 100, prior_guide(),
                          [](std::uint64_t i, Trace&) {
                            if (i == 50) throw DataError("disk full");
                          },
                          {}, {8, 2}),
               DataError);
}

// A proposal outside the support rules its trace out, and the program never sees the value.
TEST(Run, ImpossibleProposalsNeverReachTheSimulator) {
  class Outside : public Guide {
   public:
    void choose(std::span<const Pending> requests, std::span<Choice> choices) override {
      for (std::size_t i = 0; i < requests.size(); ++i) choices[i] = {2.0, 0.0};
    }
  };
  InProcess simulator(Model("m", [](Context& ctx) {
    const double u = ctx.sample(Uniform(0, 1), {.name = "u"});
    ctx.sample(Normal(0, 1 - u), {.name = "needs u < 1"});
  }));
  run_traces(
      simulator, 20, [] { return std::make_unique<Outside>(); },
      [](std::uint64_t, Trace& trace) {
        EXPECT_EQ(trace.log_weight, -kInfinity);
        EXPECT_LT(trace.entries[0].value.scalar(), 1);
      },
      {}, {4, 1});
}

// Such a weight would spoil the whole posterior, long after.
TEST(Run, AProposalWithoutADensityIsAnError) {
  class Unsure : public Guide {
   public:
    explicit Unsure(double log_q) : log_q_(log_q) {}
    void choose(std::span<const Pending> requests, std::span<Choice> choices) override {
      for (std::size_t i = 0; i < requests.size(); ++i) choices[i] = {0.5, log_q_};
    }

   private:
    double log_q_;
  };
  InProcess simulator(Model("m", [](Context& ctx) { ctx.sample(Uniform(0, 1), {.name = "u"}); }));
  for (const double log_q : {kNaN, kInfinity, -kInfinity}) {
    EXPECT_THROW(run_traces(
                     simulator, 1, [&] { return std::make_unique<Unsure>(log_q); },
                     [](std::uint64_t, Trace&) {}, {}, {1, 1}),
                 ModelError);
  }
}

TEST(Run, GuidesAreWeighedExactly) {
  class Shifted : public Guide {
   public:
    void choose(std::span<const Pending> requests, std::span<Choice> choices) override {
      const Distribution q = Normal(1, 2);
      for (std::size_t i = 0; i < requests.size(); ++i) {
        const Value x = q.draw(*requests[i].rng);
        choices[i] = {x, q.log_prob(x)};
      }
    }
  };
  InProcess simulator(Model("m", [](Context& ctx) {
    const double a = ctx.sample(Normal(0, 1), {.name = "a"});
    ctx.observe(Normal(a, 1), {.name = "y"});
  }));
  const Observations data{{"y", Value(0.5)}};
  run_traces(
      simulator, 100, [] { return std::make_unique<Shifted>(); },
      [](std::uint64_t, Trace& trace) {
        const double a = trace["a"];
        const double expected = Distribution(Normal(0, 1)).log_prob(a) +
                                Distribution(Normal(a, 1)).log_prob(0.5) -
                                Distribution(Normal(1, 2)).log_prob(a);
        EXPECT_NEAR(trace.log_weight, expected, 1e-12);
      },
      {.observations = &data}, {16, 1});
}

// Every family at parameters from the smallest number to the largest.
std::vector<Distribution> extreme_distributions() {
  constexpr double kLargest = std::numeric_limits<double>::max();
  const std::vector<double> numbers{5e-324, 1e-308, 1e-300, 1e-10,    1,
                                    1e10,   1e300,  1e308,  kLargest, -1e308};
  std::vector<Distribution> result;
  for (const double a : numbers) {
    const double probability = std::clamp(a, 0.0, 1.0);
    for (const Distribution& d : std::initializer_list<Distribution>{
             Poisson(a), Bernoulli(probability), Exponential(a), Categorical({a, 1e-300})}) {
      result.push_back(d);
    }
    for (const double b : numbers) {
      for (const Distribution& d : std::initializer_list<Distribution>{
               Normal(a, b), Uniform(a, b), Beta(a, b), Gamma(a, b), LogNormal(a, b), Weibull(a, b),
               Binomial(std::floor(std::clamp(b, 0.0, 0x1p53 - 1)), probability),
               TruncatedNormal(a, b, 0, kInfinity), TruncatedNormal(a, b, -1, 1),
               TruncatedNormal(0, 1, a, b), Mixture({1, a}, {Normal(b, 1), Exponential(b)})}) {
        result.push_back(d);
      }
    }
  }
  std::erase_if(result, [](const Distribution& d) { return !d.valid(); });
  return result;
}

TEST(Run, DrawsAreFiniteOrTheModelsError) {
  std::size_t finite = 0, failed = 0;
  for (const Distribution& d : extreme_distributions()) {
    SCOPED_TRACE(d.text());
    InProcess simulator(Model("m", [&](Context& ctx) { ctx.sample(d, {.name = "x"}); }));
    const auto look = [](std::uint64_t, Trace& trace) {
      EXPECT_TRUE(std::isfinite(trace["x"].scalar()));
      EXPECT_TRUE(std::isfinite(trace.log_joint));
    };
    try {
      run_traces(simulator, 100, prior_guide(), look, {}, {1, 1});
      ++finite;
    } catch (const ModelError& error) {
      EXPECT_NE(std::string(error.what()).find(", address 'x__"), std::string::npos)
          << error.what();
      ++failed;
    }
  }
  EXPECT_GT(finite, 300u);
  EXPECT_GT(failed, 30u);
}

}  // namespace
}  // namespace psn
