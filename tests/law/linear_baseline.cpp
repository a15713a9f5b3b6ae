// What linear regressions gain over the prior, where they are the exact posterior: the mutual
// information of latents and observations.
#include "psn/train/linear_baseline.h"

#include <gtest/gtest.h>

#include <cmath>

#include "psn/core/in_process.h"
#include "tests/law/network_fixture.h"

namespace psn {
namespace {

std::optional<double> gain_in(Model model, std::size_t traces) {
  InProcess simulator(std::move(model));
  return linear_gain(test::simulate(simulator, traces, 7));
}

// 2,000 traces; the standard error of the mean log ratio is below .02 (its variance is below 1), so
// that a false alarm of 4.9 of them has a chance of 1e-6.
constexpr double kTolerance = 0.1;

TEST(LinearBaseline, GainsTheMutualInformationOfNormals) {
  const Model model("normals", [](Context& ctx) {
    const double a = ctx.sample(Normal(3, 2), {.name = "a"});
    const double b = ctx.sample(LogNormal(0, 0.5), {.name = "b"});  // normal without its bound
    ctx.sample(Uniform(0, 1), {.name = "unrelated"});
    ctx.sample(Bernoulli(0.5), {.name = "discrete"});
    ctx.observe(Normal(a, 1), {.name = "x"});
    ctx.observe(Normal(std::log(b), 0.5), {.name = "y"});
  });
  const auto gain = gain_in(model, 2000);
  ASSERT_TRUE(gain);
  EXPECT_NEAR(*gain, 0.5 * std::log(1 + 4.0) + 0.5 * std::log(2.0), kTolerance);
}

TEST(LinearBaseline, OfVectorsGainsThatOfEachComponent) {
  const Model model("vector", [](Context& ctx) {
    const Value z = ctx.sample(Normal(Value{0, 0}, 1), {.name = "z"});
    ctx.observe(Normal(Value{z[0], 2 * z[1], 0}, 1), {.name = "x"});
  });
  const auto gain = gain_in(model, 2000);
  ASSERT_TRUE(gain);
  EXPECT_NEAR(*gain, 0.5 * std::log(2.0) + 0.5 * std::log(5.0), kTolerance);
}

// A Uniform is worse fitted by a normal around nothing than by itself.
TEST(LinearBaseline, GainsNothingWhereNothingIsTold) {
  const Model model("silent", [](Context& ctx) {
    ctx.sample(Uniform(0, 1), {.name = "u"});
    ctx.sample(Normal(0, 1), {.name = "z"});
    ctx.observe(Normal(0, 1), {.name = "x"});
  });
  const auto gain = gain_in(model, 2000);
  ASSERT_TRUE(gain);
  EXPECT_NEAR(*gain, 0, 0.01);
}

TEST(LinearBaseline, IsNotThereWithoutLatentsObservationsOrEnoughTraces) {
  const Model discrete("discrete", [](Context& ctx) {
    const double k = ctx.sample(Poisson(3), {.name = "k"});
    ctx.observe(Normal(k, 1), {.name = "x"});
  });
  EXPECT_FALSE(gain_in(discrete, 500));
  const Model branching("branching", [](Context& ctx) {
    const double z = ctx.sample(Normal(0, 1), {.name = "z"});
    if (z > 0) ctx.observe(Normal(z, 1), {.name = "x"});
  });
  EXPECT_FALSE(gain_in(branching, 500));
  const Model simple("simple", [](Context& ctx) {
    const double z = ctx.sample(Normal(0, 1), {.name = "z"});
    ctx.observe(Normal(z, 1), {.name = "x"});
  });
  EXPECT_FALSE(gain_in(simple, 10));
  EXPECT_TRUE(gain_in(simple, 100));
  EXPECT_FALSE(linear_gain({}));
}

}  // namespace
}  // namespace psn
