// Every engine on every built-in model against its exact answer: conjugacy, forward-backward,
// enumeration, quadrature. And: results do not depend on width or threads.
#include <gtest/gtest.h>

#include <cmath>

#include "experiments/control_flow/control_flow.h"
#include "experiments/reference/reference.h"
#include "psn/core/in_process.h"
#include "psn/infer/importance.h"
#include "psn/infer/metropolis.h"
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

struct Smoothing {
  double probability[16][3];
  double log_evidence = 0;
};

Smoothing forward_backward() {
  const reference::HmmParameters p;
  const auto emission = [&](int t, int k) {
    return std::exp(Distribution(Normal(p.mean[k], p.noise)).log_prob(p.data[t]));
  };
  double forward[16][3], backward[16][3];
  Smoothing result;
  for (int t = 0; t < 16; ++t) {
    double sum = 0;
    for (int k = 0; k < 3; ++k) {
      double prior = t == 0 ? p.initial[k] : 0;
      if (t > 0) {
        for (int j = 0; j < 3; ++j) prior += forward[t - 1][j] * p.transition[j][k];
      }
      sum += forward[t][k] = prior * emission(t, k);
    }
    for (double& f : forward[t]) f /= sum;
    result.log_evidence += std::log(sum);
  }
  for (int t = 15; t >= 0; --t) {
    for (int k = 0; k < 3; ++k) {
      backward[t][k] = t == 15 ? 1 : 0;
      if (t == 15) continue;
      for (int j = 0; j < 3; ++j) {
        backward[t][k] += p.transition[k][j] * emission(t + 1, j) * backward[t + 1][j];
      }
    }
    double sum = 0;
    for (int k = 0; k < 3; ++k) sum += forward[t][k] * backward[t][k];
    for (int k = 0; k < 3; ++k) result.probability[t][k] = forward[t][k] * backward[t][k] / sum;
  }
  return result;
}

TEST_P(EngineLaw, Hmm) {
  std::vector<Query> queries;
  for (int t = 0; t < 16; ++t) queries.push_back({"x_" + std::to_string(t)});
  const auto posterior = infer(GetParam(), reference::hmm(), {}, queries, 400'000);
  const Smoothing exact = forward_backward();
  for (int t = 0; t < 16; ++t) {
    const double* p = exact.probability[t];
    const double mean = p[1] + 2 * p[2];
    expect_mean(posterior, "x_" + std::to_string(t), mean,
                std::sqrt(p[1] + 4 * p[2] - mean * mean));
  }
  expect_evidence(posterior, exact.log_evidence);
}

TEST_P(EngineLaw, Branching) {
  const auto log_poisson = [](double rate, double k) {
    return Distribution(Poisson(rate)).log_prob(k);
  };
  double fibonacci[13] = {0, 1};
  for (int i = 2; i < 13; ++i) fibonacci[i] = fibonacci[i - 1] + fibonacci[i - 2];
  std::vector<double> joint(60);  // p(count, obs = 6)
  double deep = 0;                // p(count <= 4, obs = 6), and the expectation of extra there
  double extra_sum = 0, extra_squares = 0;
  for (int count = 0; count < 60; ++count) {
    const double prior = log_poisson(4, count);
    if (count > 4) {
      joint[static_cast<std::size_t>(count)] = std::exp(prior + log_poisson(6, 6));
      continue;
    }
    for (int extra = 0; extra < 80; ++extra) {
      const double p = std::exp(prior + log_poisson(4, extra) +
                                log_poisson(1 + fibonacci[3 * count] + extra, 6));
      joint[static_cast<std::size_t>(count)] += p;
      deep += p;
      extra_sum += p * extra;
      extra_squares += p * extra * extra;
    }
  }
  double evidence = 0, mean = 0, square = 0, fourth = 0;
  for (std::size_t k = 0; k < joint.size(); ++k) {
    evidence += joint[k];
    mean += joint[k] * static_cast<double>(k);
  }
  mean /= evidence;
  for (std::size_t k = 0; k < joint.size(); ++k) {
    const double d = static_cast<double>(k) - mean;
    square += joint[k] / evidence * d * d;
    fourth += joint[k] / evidence * d * d * d * d;
  }
  const auto posterior =
      infer(GetParam(), reference::branching(), {}, {{"count"}, {"extra"}}, 200'000);
  expect_moments(posterior, "count", mean, std::sqrt(square), fourth / (square * square));
  expect_evidence(posterior, std::log(evidence));
  // The branch itself, and the choice that exists only inside it.
  const double ess = effective_sample_size(posterior, "count");
  const double p_deep = deep / evidence;
  EXPECT_NEAR(posterior.probability("extra"), p_deep,
              kStandardErrors * std::sqrt(p_deep * (1 - p_deep) / ess));
  const double extra_mean = extra_sum / deep;
  const double extra_sd = std::sqrt(extra_squares / deep - extra_mean * extra_mean);
  EXPECT_NEAR(posterior.mean("extra"), extra_mean,
              kStandardErrors * extra_sd / std::sqrt(ess * p_deep));
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
