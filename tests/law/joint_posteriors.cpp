// Latents and observations whose components hang together, in the exact engines: answers by
// conjugacy.
#include <gtest/gtest.h>

#include <cmath>

#include "psn/base/error.h"
#include "psn/infer/random_walk.h"
#include "tests/law/exact_engines.h"

namespace psn {
namespace {

// The walk itself must be right.
const MetropolisOptions kWalksOnly = [] {
  MetropolisOptions options;
  options.prior_share = 0;
  return options;
}();

class JointPosterior : public testing::TestWithParam<ExactEngine> {};

double log_beta_of(const std::vector<double>& concentration) {
  double sum = 0, logs = 0;
  for (const double a : concentration) {
    sum += a;
    logs += log_gamma(a);
  }
  return logs - log_gamma(sum);
}

// Categories drawn with unknown probabilities, with a pole at an edge of the simplex and without.
TEST_P(JointPosterior, DirichletOfCategories) {
  const int data[] = {0, 2, 2, 1, 2, 2, 0, 2};
  for (const std::vector<double>& prior : {std::vector{2.0, 1.5, 3.0}, {0.5, 0.3, 1.2}}) {
    const Model model("dice", [&](Context& ctx) {
      const Value share = ctx.sample(Dirichlet(Value(prior)), {.name = "share"});
      for (std::size_t i = 0; i < 3; ++i) ctx.tag(share[i], {.name = "p" + std::to_string(i)});
      for (const int x : data) ctx.observe(Categorical(share), Value(x), {.name = "x"});
    });
    std::vector<double> updated = prior;
    for (const int x : data) updated[static_cast<std::size_t>(x)] += 1;
    const auto posterior = infer(GetParam(), model, {}, {{"p0"}, {"p1"}, {"p2"}}, kWalksOnly);
    double total = 0;
    for (const double a : updated) total += a;
    for (std::size_t i = 0; i < 3; ++i) {
      const double mean = updated[i] / total;
      expect_moments(posterior, "p" + std::to_string(i), mean,
                     std::sqrt(mean * (1 - mean) / (total + 1)), 6);
    }
    expect_log_evidence(posterior, log_beta_of(updated) - log_beta_of(prior));
  }
}

// x ~ N(m, S), y ~ N(x, 1/t) by component: the posterior has precision S^-1 + t.
TEST_P(JointPosterior, MultivariateNormalOfMeasurements) {
  const double s11 = 2, s12 = 1.2, s22 = 1, noise = 0.6, y[] = {1.5, -0.5}, m[] = {0, 1};
  const Model model("pair", [&](Context& ctx) {
    const Value x = ctx.sample(
        MultivariateNormal({m[0], m[1]}, Value({s11, s12, s12, s22}, {2, 2})), {.name = "x"});
    ctx.tag(x[0], {.name = "x0"});
    ctx.tag(x[1], {.name = "x1"});
    ctx.observe(Normal(x, noise), {.name = "y"});
  });
  // The gain is S (S + noise^2)^-1.
  const double v11 = s11 + noise * noise, v22 = s22 + noise * noise;
  const double determinant = v11 * v22 - s12 * s12;
  const double d0 = (v22 * (y[0] - m[0]) - s12 * (y[1] - m[1])) / determinant;
  const double d1 = (v11 * (y[1] - m[1]) - s12 * (y[0] - m[0])) / determinant;
  const double var0 = s11 - (s11 * s11 * v22 - 2 * s11 * s12 * s12 + s12 * s12 * v11) / determinant;
  const double var1 = s22 - (s12 * s12 * v22 - 2 * s12 * s12 * s22 + s22 * s22 * v11) / determinant;
  const auto posterior =
      infer(GetParam(), model, {{"y", Value{y[0], y[1]}}}, {{"x0"}, {"x1"}}, kWalksOnly);
  expect_moments(posterior, "x0", m[0] + s11 * d0 + s12 * d1, std::sqrt(var0));
  expect_moments(posterior, "x1", m[1] + s12 * d0 + s22 * d1, std::sqrt(var1));
  const Distribution evidence =
      MultivariateNormal({m[0], m[1]}, Value({v11, s12, s12, v22}, {2, 2}));
  expect_log_evidence(posterior, evidence.log_prob(Value{y[0], y[1]}));
}

// a ~ N(0, 1), y ~ N((a, -a, 2 a), S), of which the middle was not measured.
TEST_P(JointPosterior, AMeasuredVectorWithGaps) {
  const Value s({1, 0.6, 0.3, 0.6, 2, 0.5, 0.3, 0.5, 1.5}, {3, 3});
  const Model model("gap", [&](Context& ctx) {
    const double a = ctx.sample(Normal(0, 1), {.name = "a"});
    const Value y = ctx.observe(MultivariateNormal({a, -a, 2 * a}, s), {.name = "y"});
    ctx.tag(y[1], {.name = "middle"});
  });
  // Of what was measured, with b = (1, 2): precision of a is 1 + b' S^-1 b.
  const double det = 1 * 1.5 - 0.3 * 0.3, y0 = 0.4, y2 = 1.9;
  const double w0 = (1.5 * 1 - 0.3 * 2) / det, w2 = (1 * 2 - 0.3 * 1) / det;  // S^-1 b
  const double variance = 1 / (1 + w0 + 2 * w2), mean = variance * (w0 * y0 + w2 * y2);
  // Given a, the middle is -a + g0 (y0 - a) + g2 (y2 - 2 a).
  const double g0 = (1.5 * 0.6 - 0.3 * 0.5) / det, g2 = (1 * 0.5 - 0.3 * 0.6) / det;
  const double slope = -1 - g0 - 2 * g2;
  const double middle = slope * mean + g0 * y0 + g2 * y2;
  const double spread = slope * slope * variance + 2 - g0 * 0.6 - g2 * 0.5;
  const auto posterior =
      infer(GetParam(), model, {{"y", Value{y0, kNaN, y2}}}, {{"a"}, {"middle"}}, kWalksOnly);
  expect_moments(posterior, "a", mean, std::sqrt(variance));
  expect_mean(posterior, "middle", middle, std::sqrt(spread));
}

INSTANTIATE_TEST_SUITE_P(All, JointPosterior,
                         testing::Values(ExactEngine::kImportance, ExactEngine::kLmh,
                                         ExactEngine::kRmh),
                         [](const auto& test) {
                           return test.param == ExactEngine::kImportance ? "Importance"
                                  : test.param == ExactEngine::kLmh      ? "Lmh"
                                                                         : "Rmh";
                         });

// Steps of any size, from a value with a share that all but vanishes too. A mixture has no
// coordinates, and is left to the prior.
TEST(RandomWalk, StaysOnTheSimplex) {
  const Distribution p = Dirichlet({0.05, 2, 0.5, 30});
  Rng rng(3);
  for (const double step : {0.01, 1.0, 30.0}) {
    Value at = p.draw(rng);
    int moved = 0;
    for (int i = 0; i < 1000; ++i) {
      const auto next = random_walk(p, at, step, rng);
      ASSERT_TRUE(next && std::isfinite(next->log_ratio));
      ASSERT_TRUE(std::isfinite(p.log_prob(next->to))) << next->to.text();
      moved += !(next->to == at);
      at = next->to;
    }
    EXPECT_GT(moved, 900) << step;
  }
  const Distribution two = Mixture(Value{1, 1}, {Dirichlet({1, 2}), Dirichlet({3, 1})});
  EXPECT_FALSE(random_walk(two, Value{0.3, 0.7}, 0.5, rng));
}

TEST(JointErrors, AreOneLineThatNamesTheAddress) {
  const auto message = [](const Distribution& d, const Value& value) -> std::string {
    InProcess simulator(Model("bad", [&](Context& ctx) { ctx.observe(d, {.name = "y"}); }));
    EngineOptions options;
    options.samples = 1;
    try {
      importance_sampling(simulator, {{"y", value}}, options);
    } catch (const ModelError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message(Dirichlet({1, 0}), Value{0.5, 0.5}),
            "trace 0, address 'y__Dirichlet[2]__1': Dirichlet(concentration=[1, 0]): concentration "
            "must be positive");
  EXPECT_EQ(
      message(MultivariateNormal({0, 0}, Value({1, 2, 2, 1}, {2, 2})), Value{0, 0}),
      "trace 0, address 'y__MultivariateNormal[2]__1': MultivariateNormal: covariance must be "
      "positive definite, not [1, 2, 2, 1]");
  EXPECT_EQ(message(Dirichlet({1, 1}), Value{0.2, 0.3, 0.5}),
            "trace 0, address 'y__Dirichlet[2]__1': a value of 3 components was given to a "
            "Dirichlet of 2");
}

}  // namespace
}  // namespace psn
