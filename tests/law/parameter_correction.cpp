// Corrections of a few latents: exact against a bad surrogate, too, with unbiased evidence.
#include "psn/infer/parameter_correction.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "experiments/reference/reference.h"
#include "psn/core/in_process.h"
#include "psn/infer/parameter_density.h"
#include "psn/nn/run/surrogate.h"
#include "tests/law/exact_answers.h"
#include "tests/law/inference_fixture.h"
#include "tests/law/network_fixture.h"

namespace psn {
namespace {

// Of whole numbers, with nuisance that not all runs have.
class BranchingCorrection : public testing::TestWithParam<bool> {
 protected:
  Posterior of_surrogate(const Observations& data) {
    const Model model = reference::branching();
    InProcess own(model);
    const auto network =
        GetParam() ? train(own, Purpose::kSurrogate, 10'000)
                   : test::network_of(
                         model, {.config = test::small_config(), .traces = 300, .shake = 0.4});
    surrogate_.emplace("s", network);  // its traces' addresses are its own
    EngineOptions options = engine_options(4'000, {{"count"}});
    options.keep_traces = true;
    return importance_sampling(*surrogate_, data, options);
  }

  std::optional<SurrogateSimulator> surrogate_;
};

TEST_P(BranchingCorrection, IsTheExactPosterior) {
  const Observations data{{"obs", Value(6.0)}};
  const Posterior before = of_surrogate(data);
  InProcess simulator(reference::branching());
  simulate(simulator, engine_options(200, {}));  // which makes its addresses known
  const BranchingAnswer exact = branching_answer();
  const Posterior after = correct_parameters(simulator, data, before, {{"count"}},
                                             engine_options(60'000, {{"count"}, {"extra"}}));
  expect_branching(after, exact);
  const std::vector<double>& log_weights = after.log_weights();
  double sum = 0, squares = 0;
  for (const double w : log_weights) {
    const double relative = std::exp(w - exact.log_evidence);
    sum += relative;
    squares += relative * relative;
  }
  const auto n = static_cast<double>(log_weights.size());
  const double error = std::sqrt((squares / n - sum / n * sum / n) / n);
  EXPECT_NEAR(sum / n, 1, kStandardErrors * error);
  EXPECT_LT(error, 0.05);
}

TEST_P(BranchingCorrection, DependsOnNeitherWidthNorThreads) {
  const Observations data{{"obs", Value(6.0)}};
  const Posterior before = of_surrogate(data);
  std::vector<double> expected;
  for (const Parallelism p : {Parallelism{1, 1}, {64, 1}, {7, 2}}) {
    InProcess simulator(reference::branching());
    simulate(simulator, engine_options(200, {}));
    EngineOptions options = engine_options(700, {{"count"}});
    options.parallelism = p;
    const Posterior after = correct_parameters(simulator, data, before, {{"count"}}, options);
    if (expected.empty()) expected = after.log_weights();
    EXPECT_EQ(after.log_weights(), expected);
  }
}

INSTANTIATE_TEST_SUITE_P(Surrogates, BranchingCorrection, testing::Bool());

// Every kind of coordinate: the density is that of the draws. Both by importance sampling from a
// law that covers it: the total is one, and the share of a set is that among the draws. 4.9
// standard errors.
TEST(ParameterDensity, IsTheDensityOfItsDraws) {
  const std::vector<Distribution> priors{Normal(Value{0, 1}, Value{1, 2}), Gamma(2, 1),
                                         Uniform(-1, 3), Poisson(30), Categorical({0.2, 0.3, 0.5})};
  Rng rng(3);
  const auto of_priors = [&] {
    std::vector<Value> values;
    for (const Distribution& prior : priors) values.push_back(prior.draw(rng));
    return values;
  };
  std::vector<std::vector<Value>> centres;
  for (int i = 0; i < 40; ++i) centres.push_back(of_priors());
  const ParameterDensity density(priors, centres);
  const auto in_set = [](const std::vector<Value>& v) {
    return v[0][0] > 0.3 && v[1].scalar() < 1.5 && v[2].scalar() > 0 ? 1.0
           : v[3].scalar() >= 30 && v[4].scalar() == 1               ? 1.0
                                                                     : 0.0;
  };
  constexpr int kDraws = 40'000;
  double total = 0, totals = 0, share = 0, shares = 0, drawn = 0;
  for (int i = 0; i < kDraws; ++i) {
    const std::vector<Value> at = of_priors();
    double log_p = 0;
    for (std::size_t k = 0; k < at.size(); ++k) log_p += priors[k].log_prob(at[k]);
    const double w = std::exp(density.log_density(at) - log_p);
    total += w / kDraws;
    totals += w * w / kDraws;
    share += w * in_set(at) / kDraws;
    shares += w * w * in_set(at) / kDraws;
    drawn += in_set(density.draw(rng)) / kDraws;
  }
  EXPECT_NEAR(total, 1, kStandardErrors * std::sqrt((totals - total * total) / kDraws));
  EXPECT_NEAR(share, drawn,
              kStandardErrors * std::sqrt((shares - share * share + drawn * (1 - drawn)) / kDraws));
  EXPECT_LT(std::sqrt((totals - total * total) / kDraws), 0.05);
}

}  // namespace
}  // namespace psn
