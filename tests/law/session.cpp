// Session and its copies of traces: a particle filter has the exact evidence and filtering
// distribution in a program, and those of importance sampling in a surrogate; a copy is asked what
// its original is asked.
#include "psn/core/session.h"

#include <gtest/gtest.h>

#include <numeric>

#include "experiments/reference/reference.h"
#include "psn/base/error.h"
#include "psn/infer/importance.h"
#include "psn/nn/run/evaluate.h"
#include "psn/nn/run/network_guide.h"
#include "psn/nn/run/surrogate.h"
#include "tests/law/exact_answers.h"
#include "tests/law/inference_fixture.h"
#include "tests/law/network_fixture.h"
#include "tests/law/particle_filter.h"

namespace psn {
namespace {

constexpr double kErrors = 5;  // standard errors: a false alarm in 1.7 million seeds

Observations hmm_data() {
  const reference::HmmParameters p;
  Observations data;
  for (int t = 0; t < 16; ++t) data.set("obs_" + std::to_string(t), Value(p.data[t]));
  return data;
}

struct Mean {
  double mean = 0, error = 0;
};
Mean mean_of(const std::vector<double>& x) {
  const auto n = static_cast<double>(x.size());
  const double mean = std::accumulate(x.begin(), x.end(), 0.0) / n;
  double squares = 0;
  for (const double v : x) squares += (v - mean) * (v - mean);
  return {mean, std::sqrt(squares / (n * (n - 1)))};
}

// Of exp(log evidence - reference), whose expectation under a filter is the evidence's ratio.
Mean evidence_ratio(
    Simulator& simulator, double reference, int filters, std::size_t particles,
    const GuideFactory& guide = [] { return std::make_unique<PriorGuide>(); }) {
  std::vector<double> ratios;
  for (int i = 0; i < filters; ++i) {
    const auto ensemble = simulator.ensemble(particles);
    const auto chooser = guide();
    const auto filtered = particle_filter(*ensemble, *chooser, hmm_data(), 100 + i);
    ratios.push_back(std::exp(filtered.log_evidence - reference));
  }
  return mean_of(ratios);
}

TEST(ParticleFilter, HasTheExactEvidenceAndLastState) {
  const Smoothing exact = forward_backward();
  InProcess simulator(reference::hmm());
  std::vector<double> ratios, last;
  for (int i = 0; i < 60; ++i) {
    const auto ensemble = simulator.ensemble(100);
    PriorGuide prior;
    const Filtered filtered = particle_filter(*ensemble, prior, hmm_data(), i);
    ratios.push_back(std::exp(filtered.log_evidence - exact.log_evidence));
    double twos = 0;
    for (const Trace& trace : filtered.particles) twos += trace["x_15"].scalar() == 2;
    last.push_back(ratios.back() * twos / 100);  // unbiased together with the evidence
    ASSERT_EQ(filtered.particles[7].entries.size(), 32u);
  }
  const Mean ratio = mean_of(ratios), two = mean_of(last);
  EXPECT_NEAR(ratio.mean, 1, kErrors * ratio.error);
  EXPECT_NEAR(two.mean, exact.probability[15][2], kErrors * two.error);
  EXPECT_LT(ratio.error, 0.05);  // without resampling it would be about 0.3
}

// Whose traces' weights and densities are those of a run that was never copied.
TEST(ParticleFilter, CopiesHaveTheDensitiesOfTheirValues) {
  InProcess simulator(reference::hmm());
  const auto ensemble = simulator.ensemble(20);
  PriorGuide prior;
  const reference::HmmParameters p;
  for (const Trace& trace : particle_filter(*ensemble, prior, hmm_data(), 3, true).particles) {
    double log_joint = 0;
    for (const Entry& entry : trace.entries) log_joint += entry.log_prob;
    EXPECT_NEAR(trace.log_joint, log_joint, 1e-9);
    for (int t = 0; t < 16; ++t) {
      const auto k = trace["x_" + std::to_string(t)].integer();
      const double expected = Distribution(Normal(p.mean[k], p.noise)).log_prob(p.data[t]);
      EXPECT_NEAR(trace.entries[2 * static_cast<std::size_t>(t) + 1].log_prob, expected, 1e-9);
    }
  }
}

TEST(ParticleFilter, InASurrogateHasTheEvidenceOfImportanceSampling) {
  const auto network = test::network_of(reference::hmm(), {.config = test::small_config()});
  SurrogateSimulator surrogate("s", network);
  const Posterior sampled = importance_sampling(surrogate, hmm_data(), engine_options(60'000, {}));
  const double relative = 1 / std::sqrt(sampled.effective_sample_size());
  const Mean ratio = evidence_ratio(surrogate, sampled.log_evidence(), 30, 100);
  EXPECT_NEAR(ratio.mean, 1, kErrors * std::hypot(ratio.error, relative));
  EXPECT_LT(std::hypot(ratio.error, relative), 0.15);
}

// Where it falls back to the simulator, a copy is a run of the simulator of its own.
TEST(ParticleFilter, InASurrogateThatFallsBack) {
  const auto network = test::network_of(
      reference::hmm(), {.config = test::small_config(), .traces = 50, .shake = 0.3});
  SurrogateSimulator surrogate(
      "s", network,
      {SurrogateOptions::Unknown::kSimulator, std::make_shared<InProcess>(reference::hmm())});
  const Posterior sampled = importance_sampling(surrogate, hmm_data(), engine_options(40'000, {}));
  const double relative = 1 / std::sqrt(sampled.effective_sample_size());
  const Mean ratio = evidence_ratio(surrogate, sampled.log_evidence(), 30, 60);
  EXPECT_GT(surrogate.fallbacks().taken.load(), 1000u);
  EXPECT_NEAR(ratio.mean, 1, kErrors * std::hypot(ratio.error, relative));
}

TEST(ParticleFilter, WithAnInferenceNetworkAsGuide) {
  InProcess simulator(reference::hmm());
  const auto network = train(simulator, Purpose::kInference, 640);
  const auto guide = network_guide(compile(network), simulator, hmm_data(), {});
  const Mean ratio = evidence_ratio(simulator, forward_backward().log_evidence, 40, 100, guide);
  EXPECT_NEAR(ratio.mean, 1, kErrors * ratio.error);
  EXPECT_LT(ratio.error, 0.1);
}

// To the bit, whether the original waits or has been answered.
TEST(Fork, InASurrogateACopyIsAskedWhatItsOriginalIs) {
  const auto network = test::network_of(control_flow::model(), {.config = test::small_config()});
  SurrogateSimulator surrogate("s", network);
  const auto ensemble = surrogate.ensemble(3);
  PriorGuide prior;
  const RunOptions options;
  int compared = 0;
  for (std::uint64_t i = 0; i < 50; ++i) {
    Session session(*ensemble, prior, options);
    session.start(0, {i, 0});
    while (session.running() > 0) {
      const auto requests = session.advance();
      const Pending request = requests.front();
      if (request.slot == 0) {
        session.fork(0, 1, {i, 1});
        const Pending again = session.advance().front();
        ASSERT_EQ(again.slot, 1u);
        EXPECT_EQ(again.role, request.role);
        EXPECT_EQ(again.address, request.address);
        if (request.distribution) {
          EXPECT_EQ(again.distribution->text(), request.distribution->text());
        }
        EXPECT_EQ(again.log_transition, request.log_transition);
        ensemble->abandon(1);
        ++compared;
      }
      if (session.take(request) == Session::Taken::kChoice) session.choose({&request, 1});
      if (request.role == Role::kFinish) break;
    }
  }
  EXPECT_GT(compared, 100);
}

TEST(Fork, RefusesWhatCannotBeCopied) {
  InProcess simulator(reference::gaussian());
  const auto ensemble = simulator.ensemble(2);
  PriorGuide prior;
  const RunOptions options;
  Session session(*ensemble, prior, options);
  EXPECT_THROW(session.fork(0, 1, {1, 0}), InvalidArgument);
  class Chooser : public Guide {
    void choose(std::span<const Pending>, std::span<Choice>) override {}
  } chooser;
  Session other(*ensemble, chooser, options);
  other.start(0, {});
  EXPECT_THROW(other.fork(0, 1, {1, 0}), InvalidArgument);
}

TEST(Fork, AProgramThatDependsOnMoreThanItsChoicesIsFoundOut) {
  int runs = 0;
  InProcess simulator(Model("drifts", [&](Context& ctx) {
    ctx.sample(Normal(0, 1), {.name = "x", .index = ++runs});
    ctx.sample(Normal(0, 1), {.name = "y"});
  }));
  const auto ensemble = simulator.ensemble(2);
  PriorGuide prior;
  const RunOptions options;
  Session session(*ensemble, prior, options);
  session.start(0, {});
  const Pending request = session.advance().front();
  session.take(request);
  session.choose({&request, 1});
  session.fork(0, 1, {1, 0});
  EXPECT_THROW(session.advance(), ModelError);
}

// What the surrogate drew is what is evaluated afterwards, for every reference model.
TEST(TransitionsOfTraces, AreThoseThatAreEvaluated) {
  for (const Model& model : {reference::gaussian(), reference::gaussian_marsaglia(),
                             reference::hmm(), reference::branching(), reference::epidemic(),
                             control_flow::model(), test::all_families()}) {
    for (const Addressing addressing :
         {Addressing::kInstance, Addressing::kSite, Addressing::kShared}) {
      const auto network =
          test::network_of(model, {.config = test::small_config(addressing), .shake = 0.05});
      SurrogateSimulator surrogate("s", network);
      const auto traces = test::simulate(surrogate, 100);
      const auto evaluated =
          log_prob(surrogate.compiled(), traces, UnknownEvaluation::kRenormalise);
      for (std::size_t i = 0; i < traces.size(); ++i) {
        const auto& transitions = traces[i].transitions;
        ASSERT_EQ(transitions.size(), traces[i].entries.size() + 1) << model.name;
        const double path = std::accumulate(transitions.begin(), transitions.end(), 0.0);
        EXPECT_NEAR(traces[i].log_joint + path, evaluated[i],
                    1e-5 * (1 + 0.01 * static_cast<double>(transitions.size())))
            << model.name;
      }
      InProcess simulator(model);
      EXPECT_TRUE(test::simulate(simulator, 1).front().transitions.empty());
    }
  }
}

}  // namespace
}  // namespace psn
