// Metropolis-Hastings where it is easy to get wrong: supports, dimensions that change, choices out
// of control, missing data. Exact answers by quadrature or enumeration.
#include "psn/infer/metropolis.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "psn/base/error.h"
#include "psn/core/in_process.h"
#include "tests/law/statistics.h"

namespace psn {
namespace {

double density(const Distribution& d, double x) {
  return std::exp(d.log_prob(x));
}

struct Moments {
  double mean, sd;
};

// Of an unnormalised density on [low, high].
Moments moments(double low, double high, const std::function<double(double)>& f) {
  constexpr int kPoints = 200'000;
  double z = 0, m = 0, s = 0;
  for (int i = 0; i < kPoints; ++i) {
    const double x = low + (high - low) * (i + 0.5) / kPoints;
    const double w = f(x);
    z += w;
    m += w * x;
    s += w * x * x;
  }
  m /= z;
  return {m, std::sqrt(s / z - m * m)};
}

Posterior run_chain(const Model& model, const Observations& data, std::vector<Query> queries,
                    bool random_walk, std::uint64_t samples = 200'000) {
  InProcess simulator(model);
  MetropolisOptions options;
  options.samples = samples;
  options.burn_in = 2000;
  options.queries = std::move(queries);
  options.seed = 3;
  options.random_walk = random_walk;
  options.prior_share = 0;  // the walk itself must be right
  return metropolis_hastings(simulator, data, options).posterior;
}

class Kernel : public testing::TestWithParam<bool> {};

TEST_P(Kernel, RespectsEverySupport) {
  const struct {
    const char* name;
    Distribution prior;
    double low, high, data;
  } cases[] = {{"Normal", Normal(0, 2), -12, 12, 1.5},
               {"Uniform", Uniform(-1, 2), -1, 2, 1.8},
               {"Beta", Beta(1.5, 1.2), 0, 1, 0.9},
               {"Exponential", Exponential(1), 0, 25, 0.2},
               {"Gamma", Gamma(1.5, 1), 0, 30, 0.3},
               {"LogNormal", LogNormal(0, 0.7), 0, 30, 0.5},
               {"Weibull", Weibull(1, 1.5), 0, 12, 1.2},
               {"TruncatedNormal", TruncatedNormal(0, 1, 0.5, 3), 0.5, 3, 0.4}};
  for (const auto& c : cases) {
    const Model model("m", [&](Context& ctx) {
      const double x = ctx.sample(c.prior, {.name = "x"});
      ctx.observe(Normal(x, 0.5), c.data, {.name = "y"});
    });
    const auto exact = moments(c.low, c.high, [&](double x) {
      return density(c.prior, x) * density(Normal(x, 0.5), c.data);
    });
    const auto posterior = run_chain(model, {}, {{"x"}}, GetParam());
    SCOPED_TRACE(c.name);
    expect_moments(posterior, "x", exact.mean, exact.sd, 6);
  }
}

// The number of loops is part of the state: P(n | y) by enumeration.
TEST_P(Kernel, DimensionsChange) {
  const Model model("m", [](Context& ctx) {
    double n = 0;
    while (ctx.sample(Bernoulli(0.6), {.name = "more"}) == 1) {
      n += 1;
      n += 0 * ctx.sample(Normal(0, 1), {.name = "nuisance"});
    }
    ctx.tag(n, {.name = "n"});
    ctx.observe(Normal(n, 1), 3.0, {.name = "y"});
  });
  double z = 0, m = 0, s = 0;
  for (int n = 0; n < 200; ++n) {
    const double w = 0.4 * std::pow(0.6, n) * density(Normal(n, 1), 3.0);
    z += w;
    m += w * n;
    s += w * n * n;
  }
  m /= z;
  expect_mean(run_chain(model, {}, {{"n"}}, GetParam(), 400'000), "n", m, std::sqrt(s / z - m * m));
}

// Where b may lie depends on a: values kept from the old trace may have become impossible.
TEST_P(Kernel, SupportsThatMove) {
  const Model model("m", [](Context& ctx) {
    const double a = ctx.sample(Uniform(0.1, 2), {.name = "a"});
    const double b = ctx.sample(Uniform(0, a), {.name = "b"});
    // Breaks if the program is ever handed a value outside the support.
    const double c = ctx.sample(Exponential(a - b), {.name = "c"});
    ctx.observe(Normal(b, 0.3), 0.8, {.name = "y"});
    ctx.observe(Exponential(1 + c), 1.0, {.name = "z"});
  });
  // Given a and b, c is integrated on a grid.
  double z = 0, ma = 0, sa = 0, mb = 0, sb = 0;
  constexpr int kGrid = 400;
  for (int i = 0; i < kGrid; ++i) {
    const double a = 0.1 + 1.9 * (i + 0.5) / kGrid;
    for (int j = 0; j < kGrid; ++j) {
      const double b = a * (j + 0.5) / kGrid;
      const double rate = a - b;
      // E over c ~ Exp(rate) of (1 + c) exp(-(1 + c)).
      const double g = rate / (rate + 1) * std::exp(-1) * (1 + 1 / (rate + 1));
      const double w = density(Normal(b, 0.3), 0.8) * g;  // da db/a: uniform in j for each a
      z += w;
      ma += w * a;
      sa += w * a * a;
      mb += w * b;
      sb += w * b * b;
    }
  }
  ma /= z;
  mb /= z;
  const auto posterior = run_chain(model, {}, {{"a"}, {"b"}}, GetParam(), 400'000);
  expect_mean(posterior, "a", ma, std::sqrt(sa / z - ma * ma));
  expect_mean(posterior, "b", mb, std::sqrt(sb / z - mb * mb));
}

// A choice out of control decides which choices exist at all.
TEST_P(Kernel, ChoicesOutOfControlAreStillInferred) {
  const Model model("m", [](Context& ctx) {
    const double u = ctx.sample(Bernoulli(0.4), {.name = "u", .control = false});
    const double x = u == 1 ? ctx.sample(Normal(-1, 1), {.name = "a"})
                            : ctx.sample(Normal(2, 0.5), {.name = "b"});
    ctx.observe(Normal(x, 1), 0.3, {.name = "y"});
  });
  const double one = 0.4 * density(Normal(-1, std::sqrt(2.0)), 0.3);
  const double zero = 0.6 * density(Normal(2, std::sqrt(1.25)), 0.3);
  const double p = one / (one + zero);
  const auto posterior = run_chain(model, {}, {{"u"}, {"a"}}, GetParam());
  expect_mean(posterior, "u", p, std::sqrt(p * (1 - p)));
  EXPECT_NEAR(posterior.mean("a"), (-1 + 0.3) / 2,
              kStandardErrors * std::sqrt(0.5 / effective_sample_size(posterior, "a")));
}

// Data that nobody gave is integrated out, though a later choice depends on it.
TEST_P(Kernel, MissingObservations) {
  const Model model("m", [](Context& ctx) {
    const double mu = ctx.sample(Normal(0, 1), {.name = "mu"});
    const double first = ctx.observe(Normal(mu, 1), {.name = "first"});
    ctx.observe(Normal(first, 1), {.name = "second"});
  });
  const auto posterior =
      run_chain(model, {{"second", Value(2.0)}}, {{"mu"}, {"first"}}, GetParam());
  expect_moments(posterior, "mu", 2.0 / 3, std::sqrt(2.0 / 3));
  expect_moments(posterior, "first", 4.0 / 3, std::sqrt(2.0 / 3));
}

TEST_P(Kernel, VectorsMoveAsOne) {
  const Model model("m", [](Context& ctx) {
    const Value v = ctx.sample(Normal(Value{0, 1, 2, 3}, Value{1, 2, 1, 2}), {.name = "v"});
    ctx.observe(Normal(v[0] + v[3], 1), 6.0, {.name = "y"});
  });
  const auto posterior = run_chain(model, {}, {{"v", {4}}}, GetParam(), 400'000);
  // Prior variances 1 and 4, noise 1: the residual 3 is shared in proportion.
  EXPECT_NEAR(posterior.mean("v", 0), 0.5,
              kStandardErrors / std::sqrt(effective_sample_size(posterior, "v", 0)));
  EXPECT_NEAR(posterior.mean("v", 3), 3 + 2,
              kStandardErrors * 2 / std::sqrt(effective_sample_size(posterior, "v", 3)));
  EXPECT_NEAR(posterior.mean("v", 1), 1,
              kStandardErrors * 2 / std::sqrt(effective_sample_size(posterior, "v", 1)));
}

TEST_P(Kernel, Factors) {
  const Model model("m", [](Context& ctx) {
    const double x = ctx.sample(Normal(0, 1), {.name = "x"});
    ctx.factor(x < 0.5 ? -kInfinity : -x, {.name = "f"});
  });
  const auto exact =
      moments(0.5, 10, [](double x) { return density(Normal(0, 1), x) * std::exp(-x); });
  expect_moments(run_chain(model, {}, {{"x"}}, GetParam()), "x", exact.mean, exact.sd, 9);
}

INSTANTIATE_TEST_SUITE_P(All, Kernel, testing::Bool(),
                         [](const auto& random_walk) { return random_walk.param ? "RMH" : "LMH"; });

TEST(Metropolis, ImpossibleDataIsAnError) {
  InProcess simulator(Model("m", [](Context& ctx) {
    ctx.sample(Normal(0, 1), {.name = "x"});
    ctx.factor(-kInfinity, {.name = "never"});
  }));
  MetropolisOptions options;
  options.chains = 1;
  EXPECT_THROW(metropolis_hastings(simulator, {}, options), ModelError);
}

TEST(Metropolis, ThinningAndChainsCountAsPromised) {
  InProcess simulator(Model("m", [](Context& ctx) { ctx.sample(Normal(0, 1), {.name = "x"}); }));
  MetropolisOptions options;
  options.samples = 100;
  options.chains = 3;
  options.thinning = 5;
  options.burn_in = 7;
  options.queries = {{"x"}};
  const auto result = metropolis_hastings(simulator, {}, options);
  EXPECT_EQ(result.posterior.size(), 102u);  // 34 each
  EXPECT_EQ(result.posterior.chains(), 3u);
  EXPECT_EQ(result.iterations, 3u * (7 + 34 * 5));
  EXPECT_EQ(result.acceptance, 1);  // without data every draw from the prior is accepted
}

TEST(Metropolis, AProgramWithoutChoicesIsConstant) {
  InProcess simulator(Model("m", [](Context& ctx) { ctx.tag(4, {.name = "t"}); }));
  MetropolisOptions options;
  options.samples = 20;
  options.queries = {{"t"}};
  EXPECT_EQ(metropolis_hastings(simulator, {}, options).posterior.mean("t"), 4);
}

}  // namespace
}  // namespace psn
