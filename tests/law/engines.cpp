// Every engine on every built-in model against its exact answer: conjugacy, forward-backward,
// enumeration, quadrature. And: results do not depend on width or threads.
#include <gtest/gtest.h>

#include <cmath>

#include "experiments/control_flow/control_flow.h"
#include "experiments/reference/reference.h"
#include "psn/core/in_process.h"
#include "psn/infer/importance.h"
#include "psn/infer/metropolis.h"
#include "tests/law/exact_answers.h"
#include "tests/law/statistics.h"

namespace psn {
namespace {

enum class Engine { kImportance, kLmh, kRmh };

Posterior infer(Engine engine, const Model& model, const Observations& data,
                std::vector<Query> queries, std::uint64_t samples,
                Parallelism parallelism = {64, 2}) {
  InProcess simulator(model);
  MetropolisOptions options;
  options.samples = samples;
  options.queries = std::move(queries);
  options.seed = 1;
  options.parallelism = parallelism;
  if (engine == Engine::kImportance) return importance_sampling(simulator, data, options);
  options.burn_in = samples / 20;
  options.random_walk = engine == Engine::kRmh;
  return metropolis_hastings(simulator, data, options).posterior;
}

class EngineLaw : public testing::TestWithParam<Engine> {};

// The evidence estimate's relative error is 1 / sqrt(ESS).
void expect_evidence(const Posterior& posterior, double log_evidence) {
  if (posterior.chains() > 0) return;
  EXPECT_NEAR(posterior.log_evidence(), log_evidence,
              kStandardErrors / std::sqrt(posterior.effective_sample_size()));
}

// mu | x ~ Normal: precision 1/5 + 2/2.
TEST_P(EngineLaw, Gaussian) {
  for (const Model& model : {reference::gaussian(), reference::gaussian_marsaglia()}) {
    const auto posterior = infer(GetParam(), model, {}, {{"mu"}}, 200'000);
    const double variance = 1 / (1.0 / 5 + 1);
    expect_moments(posterior, "mu", variance * (1.0 / 5 + 17.0 / 2), std::sqrt(variance));
    // (8, 9) is bivariate normal around 1 with variance 7 and covariance 5.
    const double quadratic = (7 * (49 + 64) - 2 * 5 * 7 * 8) / (49.0 - 25);
    expect_evidence(posterior, -std::log(2 * M_PI) - 0.5 * std::log(49.0 - 25) - 0.5 * quadratic);
  }
}

TEST_P(EngineLaw, ObservationsReplaceTheProgramsData) {
  const auto posterior = infer(GetParam(), reference::gaussian(),
                               {{"obs0", Value(1.0)}, {"obs1", Value(2.0)}}, {{"mu"}}, 100'000);
  const double variance = 1 / (1.0 / 5 + 1);
  expect_moments(posterior, "mu", variance * (1.0 / 5 + 3.0 / 2), std::sqrt(variance));
}

TEST_P(EngineLaw, Hmm) {
  std::vector<Query> queries;
  for (int t = 0; t < 16; ++t) queries.push_back({"x_" + std::to_string(t)});
  const auto posterior = infer(GetParam(), reference::hmm(), {}, queries, 400'000);
  const Smoothing exact = forward_backward();
  expect_states(posterior, exact);
  expect_evidence(posterior, exact.log_evidence);
}

TEST_P(EngineLaw, Branching) {
  const BranchingAnswer exact = branching_answer();
  const auto posterior =
      infer(GetParam(), reference::branching(), {}, {{"count"}, {"extra"}}, 200'000);
  expect_branching(posterior, exact);
  expect_evidence(posterior, exact.log_evidence);
}

TEST_P(EngineLaw, ControlFlow) {
  const control_flow::ExactPosterior exact(5);
  const Query loops{"loops", {}, [](const Trace& trace) {
                      return Value(static_cast<double>(trace.length() - 2) / 3);
                    }};
  const auto posterior =
      infer(GetParam(), control_flow::model(), {{"x", Value(5.0)}}, {{"theta"}, loops}, 400'000);
  expect_moments(posterior, "theta", exact.mean(), exact.sd());
  expect_evidence(posterior, std::log(exact.evidence()));
  double mean = 0, square = 0;
  for (std::size_t n = 1; n <= exact.loops().size(); ++n) {
    mean += exact.loops()[n - 1] * static_cast<double>(n);
    square += exact.loops()[n - 1] * static_cast<double>(n * n);
  }
  expect_mean(posterior, "loops", mean, std::sqrt(square - mean * mean));
  for (const double p : {0.05, 0.5, 0.95}) {
    // The error of a quantile is sqrt(p (1 - p) / ess) / density; the density there is above 0.5.
    EXPECT_NEAR(
        posterior.quantile("theta", p), exact.quantile(p),
        kStandardErrors * std::sqrt(p * (1 - p) / effective_sample_size(posterior, "theta")) / 0.5);
  }
}

TEST_P(EngineLaw, ResultsDependOnNeitherWidthNorThreads) {
  std::vector<double> reference;
  for (const Parallelism p : {Parallelism{1, 1}, {64, 1}, {1, 2}, {64, 2}, {3, 3}}) {
    const auto posterior = infer(GetParam(), control_flow::model(), {{"x", Value(5.0)}},
                                 {{"theta"}, {"z_1_0"}}, 3000, p);
    std::vector<double> all = posterior.column("theta").data;
    for (const double z : posterior.column("z_1_0").data) all.push_back(std::isnan(z) ? -1 : z);
    all.insert(all.end(), posterior.log_weights().begin(), posterior.log_weights().end());
    if (reference.empty()) reference = all;
    EXPECT_EQ(all, reference);
  }
}

INSTANTIATE_TEST_SUITE_P(All, EngineLaw,
                         testing::Values(Engine::kImportance, Engine::kLmh, Engine::kRmh),
                         [](const auto& engine) {
                           if (engine.param == Engine::kImportance) return "Importance";
                           return engine.param == Engine::kLmh ? "LMH" : "RMH";
                         });

// The specification's own table.
TEST(ExactControlFlow, AgreesWithTheSpecification) {
  const control_flow::ExactPosterior exact(5);
  EXPECT_NEAR(exact.mean(), 0.4447, 5e-5);
  EXPECT_NEAR(exact.sd(), 0.1504, 5e-5);
  EXPECT_NEAR(exact.evidence(), 0.0187051, 5e-8);
  const double quantiles[][2] = {
      {0.05, 0.2001}, {0.25, 0.3361}, {0.5, 0.4427}, {0.75, 0.5511}, {0.95, 0.6961}};
  for (const auto& [p, q] : quantiles) EXPECT_NEAR(exact.quantile(p), q, 1e-4);
  const double loops[] = {.0000, .0358, .2980, .4528, .1880, .0241, .0012};
  for (std::size_t n = 0; n < 7; ++n) EXPECT_NEAR(exact.loops()[n], loops[n], 5.1e-5);
}

}  // namespace
}  // namespace psn
