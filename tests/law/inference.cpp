// Inference compilation against exact posteriors: in the simulator and in a surrogate, trained and
// untrained, with the weights recomputed from finished traces.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "experiments/control_flow/control_flow.h"
#include "experiments/reference/reference.h"
#include "psn/base/error.h"
#include "psn/core/in_process.h"
#include "psn/infer/correction.h"
#include "psn/infer/importance.h"
#include "psn/nn/network_file.h"
#include "psn/nn/run/evaluate.h"
#include "psn/nn/run/network_guide.h"
#include "psn/nn/run/surrogate.h"
#include "psn/train/trainer.h"
#include "tests/law/exact_answers.h"
#include "tests/law/inference_fixture.h"

namespace psn {
namespace {

std::vector<Query> states() {
  std::vector<Query> queries;
  for (int t = 0; t < 16; ++t) queries.push_back({"x_" + std::to_string(t)});
  return queries;
}

// The posteriors that the programs' own data lead to.
void expect_exact(const std::string& model, const Posterior& posterior) {
  if (model == "hmm") return expect_states(posterior, forward_backward());
  if (model == "branching") return expect_branching(posterior, branching_answer());
  const GaussianAnswer exact = gaussian_answer(8, 9);
  expect_moments(posterior, "mu", exact.mean, exact.sd);
}

struct ModelCase {
  Model model;
  std::vector<Query> queries;
  Addressing addressing = Addressing::kInstance;
  double gain = 20;  // in effective samples, over the prior's
  std::uint64_t traces = 12'000;
};

class InferenceLaw : public testing::TestWithParam<std::string> {
 protected:
  static ModelCase model_case() {
    const std::string& name = GetParam();
    if (name == "hmm") return {reference::hmm(), states()};
    if (name == "branching") {
      return {reference::branching(), {{"count"}, {"extra"}}, Addressing::kInstance, 1.5};
    }
    if (name == "gaussian") return {reference::gaussian(), {{"mu"}}};
    // Each round of a rejection loop adds noise to the weights: little can be gained.
    return {reference::gaussian_marsaglia(), {{"mu"}}, Addressing::kSite, 1, 24'000};
  }
};

TEST_P(InferenceLaw, InTheSimulator) {
  const ModelCase c = model_case();
  InProcess simulator(c.model);
  const auto network = train(simulator, Purpose::kInference, c.traces, c.addressing);
  const auto posterior =
      compiled_inference(simulator, network, {}, engine_options(20'000, c.queries));
  expect_exact(GetParam(), posterior);
  const auto prior = importance_sampling(simulator, {}, engine_options(20'000, c.queries));
  EXPECT_GT(posterior.effective_sample_size(), c.gain * prior.effective_sample_size());
}

// With every core, and in a program where it has something to carry.
TEST(Inference, LearnsAPosteriorWithEveryCore) {
  for (const std::string_view core : core_names()) {
    SCOPED_TRACE(core);
    for (const bool chain : {false, true}) {
      InProcess simulator(chain ? reference::hmm() : reference::gaussian());
      const auto queries = chain ? states() : std::vector<Query>{{"mu"}};
      const auto network =
          train(simulator, Purpose::kInference, 12'000, Addressing::kInstance, 0, core);
      const auto posterior =
          compiled_inference(simulator, network, {}, engine_options(20'000, queries));
      expect_exact(chain ? "hmm" : "gaussian", posterior);
      const auto prior = importance_sampling(simulator, {}, engine_options(20'000, queries));
      EXPECT_GT(posterior.effective_sample_size(), 20 * prior.effective_sample_size());
    }
  }
}

// Values that are far in the tail of the prior, so a surrogate is only roughly right there: judged
// after the correction to the simulator, which must be exact.
TEST_P(InferenceLaw, InTheSurrogateCorrectedToTheSimulator) {
  const ModelCase c = model_case();
  InProcess simulator(c.model);
  const auto network = train(simulator, Purpose::kInference, c.traces, c.addressing);
  SurrogateSimulator surrogate("s", train(simulator, Purpose::kSurrogate, c.traces, c.addressing));
  Observations data;
  if (GetParam() == "hmm") {
    const reference::HmmParameters p;
    for (int t = 0; t < 16; ++t) data.set("obs_" + std::to_string(t), Value(p.data[t]));
  } else if (GetParam() == "branching") {
    data.set("obs", 6.0);
  } else {
    data.set("obs0", 8.0);
    data.set("obs1", 9.0);
  }
  EngineOptions options = engine_options(20'000, {});
  options.keep_traces = true;
  const auto posterior = compiled_inference(surrogate, network, data, options);
  EXPECT_GT(posterior.effective_sample_size(), 300);
  const Correction corrected =
      correct_to_simulator(simulator, data, posterior, engine_options(6000, c.queries));
  expect_exact(GetParam(), corrected.posterior);
  EXPECT_LT(corrected.diverged, 1500u);
}

INSTANTIATE_TEST_SUITE_P(Models, InferenceLaw,
                         testing::Values("gaussian", "gaussian_marsaglia", "hmm", "branching"),
                         [](const auto& test) { return test.param; });

// IC inside a surrogate follows the surrogate's own posterior: the same as IS inside it.
TEST(Inference, InTheSurrogateIsTheSurrogatesPosterior) {
  InProcess simulator(control_flow::model());
  const auto network = train(simulator, Purpose::kInference, 20'000);
  SurrogateSimulator surrogate("s", train(simulator, Purpose::kSurrogate, 20'000));
  const Observations data{{"x", Value(3.0)}};
  const std::vector<Query> queries{{"theta"}};
  const auto compiled =
      compiled_inference(surrogate, network, data, engine_options(20'000, queries));
  const auto prior = importance_sampling(surrogate, data, engine_options(200'000, queries));
  const double sd = std::sqrt(prior.variance("theta"));
  const double error =
      sd * std::sqrt(1 / compiled.effective_sample_size() + 1 / prior.effective_sample_size());
  EXPECT_NEAR(compiled.mean("theta"), prior.mean("theta"), kStandardErrors * error);
  EXPECT_GT(compiled.effective_sample_size(), 5'000);
}

TEST(Inference, AnUntrainedNetworkIsStillRight) {
  InProcess simulator(reference::gaussian());
  auto network = train(simulator, Purpose::kInference, 32);  // one update
  const Observations data{{"obs0", Value(2.0)}, {"obs1", Value(3.0)}};
  const auto posterior =
      compiled_inference(simulator, network, data, engine_options(50'000, {{"mu"}}));
  const GaussianAnswer exact = gaussian_answer(2, 3);
  expect_moments(posterior, "mu", exact.mean, exact.sd);
}

// log q of finished traces, by the trainer's forward pass: another implementation than the guide's.
TEST(Inference, WeightsAreTheRatioOfFinishedTraces) {
  InProcess simulator(control_flow::model());
  const auto network = train(simulator, Purpose::kInference, 5'000);
  const Observations data{{"x", Value(5.0)}};
  for (const double defensive : {0.0, 0.2}) {
    EngineOptions options = engine_options(500, {});
    options.keep_traces = true;
    const auto posterior = compiled_inference(simulator, network, data, options, defensive);
    std::vector<Trace> traces;  // without loops longer than any in training
    for (const Trace& trace : posterior.traces()) {
      const bool known = std::all_of(
          trace.entries.begin(), trace.entries.end(),
          [&](const Entry& e) { return network->find(*e.address, e.role).has_value(); });
      if (known) traces.push_back(trace);
    }
    ASSERT_GT(traces.size(), 300u);
    expect_weights_are_ratios(*network, traces, defensive, 2e-4);
  }
}

// The network's own answer is what inference compilation weighs, to the bit; and the prior's is the
// prior, whatever was observed.
TEST(Inference, TheNetworksOwnDrawsAreTheProposals) {
  InProcess simulator(reference::gaussian());
  const auto network = compile(train(simulator, Purpose::kInference, 3000));
  const Observations data{{"obs0", Value(2.0)}, {"obs1", Value(3.0)}};
  const EngineOptions options = engine_options(20'000, {{"mu"}});
  const GuideFactory guide = network_guide(network, simulator, data);
  const Posterior weighed = importance_sampling(simulator, data, options, guide);
  const Posterior own = guided_draws(simulator, data, options, guide);
  EXPECT_EQ(own.column("mu").data, weighed.column("mu").data);
  EXPECT_EQ(own.log_weights(), std::vector<double>(options.samples, 0.0));
  EXPECT_NE(own.mean("mu"), weighed.mean("mu"));

  const Posterior prior = guided_draws(simulator, data, options, prior_guide());
  expect_moments(prior, "mu", 1, std::sqrt(5.0));
}

TEST(Inference, DefensiveMixingKeepsTheAnswer) {
  InProcess simulator(reference::branching());
  const auto network = train(simulator, Purpose::kInference, 6'000);
  const auto posterior = compiled_inference(simulator, network, {},
                                            engine_options(30'000, {{"count"}, {"extra"}}), 0.3);
  expect_branching(posterior, branching_answer());
}

TEST(Inference, ResultsDependOnNeitherWidthNorThreads) {
  InProcess simulator(control_flow::model());
  const auto network = train(simulator, Purpose::kInference, 3'000);
  std::vector<double> reference;
  for (const Parallelism p : {Parallelism{1, 1}, {64, 1}, {7, 2}}) {
    EngineOptions options = engine_options(600, {{"theta"}});
    options.parallelism = p;
    const auto posterior =
        compiled_inference(simulator, network, {{"x", Value(4.0)}}, options, 0.1);
    std::vector<double> all = posterior.column("theta").data;
    all.insert(all.end(), posterior.log_weights().begin(), posterior.log_weights().end());
    if (reference.empty()) reference = all;
    EXPECT_EQ(all, reference);
  }
}

TEST(Inference, FilesKeepEverything) {
  InProcess simulator(reference::gaussian());
  const auto network = train(simulator, Purpose::kInference, 1'000, Addressing::kSite, 0.2);
  const std::string bytes = serialize_network({network, "{}", true});
  const auto again = parse_network(bytes, "q.psn").network;
  EXPECT_EQ(serialize_network({again, "{}", true}), bytes);
  const Observations data{{"obs0", Value(2.0)}, {"obs1", Value(3.0)}};
  const auto options = engine_options(100, {{"mu"}});
  EXPECT_EQ(compiled_inference(simulator, network, data, options).log_weights(),
            compiled_inference(simulator, again, data, options).log_weights());
  EXPECT_THROW(SurrogateSimulator("q", again), InvalidArgument);
}

// Choices out of control decide about the way, and an observation that nobody gives is drawn by
// both: the surrogate's draws of them must not count. Given y, mu is a mixture of two normals.
TEST(Inference, CorrectionWithChoicesOutOfControl) {
  InProcess simulator({"shifts", [](Context& ctx) {
                         const double mu = ctx.sample(Normal(0, 2), {.name = "mu"});
                         const bool shifted =
                             ctx.sample(Bernoulli(0.3), {.name = "shifted", .control = false}) == 1;
                         ctx.observe(Normal(mu, 1), {.name = "unseen"});
                         const double shift =
                             shifted ? double{ctx.sample(Normal(3, 1), {.name = "shift"})} : 0;
                         ctx.observe(Normal(mu + shift, 1), {.name = "y"});
                         return Value(mu);
                       }});
  const auto network =
      train(simulator, Purpose::kInference, 5'000, Addressing::kInstance, /*missing=*/0.2);
  SurrogateSimulator surrogate("s", train(simulator, Purpose::kSurrogate, 600));  // a poor one
  const double y = 4;
  const Observations data{{"y", Value(y)}};
  EngineOptions options = engine_options(20'000, {});
  options.keep_traces = true;
  const auto corrected =
      correct_to_simulator(simulator, data, compiled_inference(surrogate, network, data, options),
                           engine_options(8000, {{"mu"}, {"shifted"}}));
  const double plain = 0.7 * std::exp(Distribution(Normal(0, std::sqrt(5.0))).log_prob(y));
  const double shifted = 0.3 * std::exp(Distribution(Normal(3, std::sqrt(6.0))).log_prob(y));
  const double share = shifted / (plain + shifted);
  const double means[] = {y * 4 / 5, (y - 3) * 4 / 6};
  const double mean = (1 - share) * means[0] + share * means[1];
  const double variance = (1 - share) * (4.0 / 5 + means[0] * means[0]) +
                          share * (4.0 / 3 + means[1] * means[1]) - mean * mean;
  expect_mean(corrected.posterior, "mu", mean, std::sqrt(variance));
  expect_mean(corrected.posterior, "shifted", share, std::sqrt(share * (1 - share)));
  EXPECT_NEAR(corrected.posterior.log_evidence(), std::log(plain + shifted), 0.2);
}

// One address, sometimes a mixture of normals and sometimes one of counts, whose densities are of
// two kinds: only the first has a proposal.
TEST(Inference, MixturesOfCountsAreLeftToTheModel) {
  const Distribution counts = Mixture(Value{0.5, 0.5}, {Poisson(1), Poisson(4)});
  InProcess simulator(
      {"counts", [&](Context& ctx) {
         const bool counted = ctx.sample(Bernoulli(0.5), {.name = "counted"}) == 1;
         const Distribution normals = Mixture(Value{0.5, 0.5}, {Normal(1, 1), Normal(4, 2)});
         const double x = ctx.sample(counted ? counts : normals, {.name = "x"});
         ctx.observe(Normal(x, 1), {.name = "y"});
         return Value(x);
       }});
  const double y = 2.5;
  const auto at_y = [&](double mean, double sd) {
    return std::exp(Distribution(Normal(mean, sd)).log_prob(y));
  };
  const double normal = 0.5 * at_y(1, std::sqrt(2.0)) + 0.5 * at_y(4, std::sqrt(5.0));
  double counted = 0;
  for (int n = 0; n < 60; ++n) counted += std::exp(counts.log_prob(n)) * at_y(n, 1);
  const double share = counted / (counted + normal);
  const auto posterior =
      compiled_inference(simulator, train(simulator, Purpose::kInference, 5'000), {{"y", Value(y)}},
                         engine_options(20'000, {{"counted"}}));
  expect_mean(posterior, "counted", share, std::sqrt(share * (1 - share)));
  EXPECT_NEAR(posterior.log_evidence(), std::log(0.5 * (counted + normal)),
              kStandardErrors / std::sqrt(posterior.effective_sample_size()));
  // A proposal on the real line would miss the counts and rule its traces out.
  for (const double log_weight : posterior.log_weights()) ASSERT_GT(log_weight, -kInfinity);
}

}  // namespace
}  // namespace psn
