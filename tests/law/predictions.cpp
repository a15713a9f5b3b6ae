// What is kept of a posterior, and what is predicted from it: against conjugate predictives, and
// against the estimates of the whole posterior.
#include <gtest/gtest.h>

#include <cmath>

#include "experiments/reference/reference.h"
#include "psn/base/error.h"
#include "psn/core/in_process.h"
#include "psn/infer/importance.h"
#include "psn/infer/metropolis.h"
#include "psn/infer/predict.h"
#include "tests/law/exact_answers.h"

namespace psn {
namespace {

MetropolisOptions options_for(std::uint64_t samples, std::vector<Query> queries, Draws* draws) {
  MetropolisOptions options;
  options.samples = samples;
  options.queries = std::move(queries);
  options.draws = draws;
  options.seed = 1;
  options.burn_in = 1'000;
  options.parallelism = {64, 2};
  return options;
}

// Kish's, of what was kept.
double kept_ess(const Draws& draws) {
  double sum = 0, squares = 0;
  for (const auto& draw : draws.kept()) {
    sum += std::exp(draw.log_weight);
    squares += std::exp(2 * draw.log_weight);
  }
  return sum * sum / squares;
}

// mu | y ~ N(m, v): what is measured again is N(m, v + 2), and two measurements have covariance v.
TEST(Predictive, IsTheConjugateOne) {
  const Observations data{{"obs0", Value(2.0)}, {"obs1", Value(3.0)}};
  const GaussianAnswer exact = gaussian_answer(2, 3);
  const double v = exact.sd * exact.sd, variance = v + 2;
  for (const bool chains : {false, true}) {
    InProcess simulator(reference::gaussian());
    Draws draws(1, {.draws = 5'000});
    const auto engine = options_for(100'000, {{"mu"}}, &draws);
    const Posterior posterior = chains ? metropolis_hastings(simulator, data, engine).posterior
                                       : importance_sampling(simulator, data, engine);
    ASSERT_EQ(draws.kept().size(), 5'000u);
    const double ess = std::min(kept_ess(draws), effective_sample_size(posterior, "mu"));
    ASSERT_GT(ess, 2'000);
    const Query product{
        "product", {}, [&](const Trace& t) {
          return Value((t["obs0"].scalar() - exact.mean) * (t["obs1"].scalar() - exact.mean));
        }};
    const auto again = options_for(100'000, {{"mu"}, {"obs0"}, {"obs1"}, product}, nullptr);
    const Prediction prediction = predict(simulator, draws, again);
    EXPECT_EQ(prediction.new_latents, 0u);
    const Posterior& y = prediction.samples;
    EXPECT_NEAR(y.mean("mu"), exact.mean, kStandardErrors * exact.sd / std::sqrt(ess));
    for (const char* name : {"obs0", "obs1"}) {
      EXPECT_NEAR(y.mean(name), exact.mean, kStandardErrors * std::sqrt(v / ess + variance / 1e5));
      EXPECT_NEAR(y.variance(name), variance,
                  kStandardErrors * std::sqrt(2 * v * v / ess + 2 * variance * variance / 1e5));
    }
    EXPECT_NEAR(y.mean("product"), v,
                kStandardErrors * std::sqrt(2 * v * v / ess + (variance * variance + v * v) / 1e5));
  }
}

// Addresses that repeat, some of them not under control: the mean of what is measured again is the
// mean of what the program returns, among the draws.
TEST(Predictive, KeepsEveryLatentOfADraw) {
  const Model model("loop", [](Context& ctx) {
    double sum = 0;
    const auto n = ctx.sample(Categorical({0.2, 0.3, 0.5}), {.name = "n"}).integer();
    for (int i = 0; i <= n; ++i) sum += ctx.sample(Normal(i, 1), {.name = "z"}).scalar();
    sum += ctx.sample(Normal(0, 2), {.name = "w", .control = false}).scalar();
    ctx.observe(Normal(sum, 0.5), {.name = "y"});
    return Value(sum);
  });
  InProcess simulator(model);
  const Query result{"result", {}, [](const Trace& trace) { return trace.result; }};
  Draws draws(1);
  const auto posterior =
      importance_sampling(simulator, {{"y", Value(4.0)}}, options_for(10'000, {result}, &draws));
  const Prediction again = predict(simulator, draws, options_for(40'000, {{"y"}, result}, nullptr));
  EXPECT_EQ(again.new_latents, 0u);
  // All were kept: systematic resampling adds next to nothing.
  EXPECT_NEAR(again.samples.mean("result"), posterior.mean("result"), 1e-2);
  EXPECT_NEAR(again.samples.variance("result"), posterior.variance("result"), 1e-2);
  EXPECT_NEAR(again.samples.mean("y"), again.samples.mean("result"), kStandardErrors * 0.5 / 200);
  // The prior's variance is above 5.
  EXPECT_LT(again.samples.variance("y"), 1);
}

// A latent that only the new observation leads to.
TEST(Predictive, CountsLatentsThatNoDrawHas) {
  const Model model("late", [](Context& ctx) {
    ctx.sample(Normal(0, 1), {.name = "a"});
    const auto y = ctx.observe(Bernoulli(0.5), {.name = "y"});
    if (y == 1) ctx.sample(Normal(0, 1), {.name = "b"});
  });
  InProcess simulator(model);
  Draws draws(1);
  importance_sampling(simulator, {{"y", Value(0.0)}}, options_for(100, {}, &draws));
  const Prediction again = predict(simulator, draws, options_for(1'000, {{"y"}}, nullptr));
  EXPECT_EQ(static_cast<double>(again.new_latents), again.samples.mean("y") * 1'000);
  EXPECT_THROW(predict(simulator, Draws(1), options_for(10, {}, nullptr)), ModelError);
}

// 300 samples with weights over many orders and latents of random number.
struct Sample {
  Trace trace;
  double log_weight, value;
};
std::vector<Sample> uneven_samples(AddressTable& table) {
  std::vector<Sample> samples;
  Rng rng(7);
  for (std::uint64_t i = 0; i < 300; ++i) {
    Sample sample{{}, 2 * rng.normal(), 0};
    const std::uint64_t length = 1 + rng.below(20);
    sample.value = static_cast<double>(length) + rng.normal();  // so that size matters
    for (std::uint32_t k = 1; k <= length; ++k) {
      const Address* address = table.address(table.variable({.base = "z", .type = "Normal"}), k);
      sample.trace.entries.push_back(
          {address, Role::kSample, true, false, 0, sample.value, nullptr});
    }
    samples.push_back(std::move(sample));
  }
  return samples;
}

// Whether draws or numbers set the limit: sums over the kept ones are unbiased.
TEST(Draws, AreAnUnbiasedSubset) {
  AddressTable table;
  const std::vector<Sample> samples = uneven_samples(table);
  double exact = 0;
  for (const Sample& s : samples) exact += std::exp(s.log_weight) * s.value;
  for (const Draws::Limits limits : {Draws::Limits{.draws = 40}, Draws::Limits{.numbers = 700}}) {
    constexpr int kSeeds = 2'000;
    double sum = 0, squares = 0;
    for (int seed = 0; seed < kSeeds; ++seed) {
      Draws draws(seed, limits);
      for (std::size_t i = 0; i < samples.size(); ++i) {
        draws.offer(i, samples[i].trace, samples[i].log_weight);
      }
      double estimate = 0;
      for (const auto& draw : draws.kept()) {
        estimate += std::exp(draw.log_weight) * samples[draw.sample].value;
      }
      sum += estimate;
      squares += estimate * estimate;
      EXPECT_LT(draws.kept().size(), 150u);
    }
    const double mean = sum / kSeeds;
    const double error = std::sqrt((squares / kSeeds - mean * mean) / kSeeds);
    EXPECT_NEAR(mean, exact, kStandardErrors * error);
    EXPECT_LT(error, 0.01 * exact);
  }
}

TEST(Draws, OfPartsAreThoseOfTheWhole) {
  AddressTable table;
  const std::vector<Sample> samples = uneven_samples(table);
  Draws whole(3, {.draws = 50}), first(3, {.draws = 50}), second(3, {.draws = 50});
  for (std::size_t i = samples.size(); i-- > 0;) {
    whole.offer(i, samples[i].trace, samples[i].log_weight);
    (i < 120 ? first : second).offer(i, samples[i].trace, samples[i].log_weight);
  }
  first.merge(Draws::parse(second.serialize(), "file"));
  EXPECT_EQ(first.serialize(), whole.serialize());
  const Draws again = Draws::parse(whole.serialize(), "file");
  ASSERT_EQ(again.kept().size(), 50u);
  for (std::size_t i = 0; i < 50; ++i) {
    EXPECT_EQ(again.kept()[i].log_weight, whole.kept()[i].log_weight);
    EXPECT_EQ(again.kept()[i].latents.size(), whole.kept()[i].latents.size());
    EXPECT_EQ(again.kept()[i].latents[0].value, whole.kept()[i].latents[0].value);
  }
}

}  // namespace
}  // namespace psn
