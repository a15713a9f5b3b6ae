// When psn warns of a result.
#include "psn/services/warnings.h"

#include <gtest/gtest.h>

#include "psn/base/numerics.h"
#include "psn/services/diagnose.h"

namespace psn::services {
namespace {

PosteriorSummary weighted(double ess, double khat) {
  return {.samples = 10'000, .ess = ess, .khat = khat, .khat_threshold = 0.7};
}

TEST(Warnings, OfWeightedSamples) {
  EXPECT_TRUE(posterior_warnings(weighted(5000, 0.5)).empty());
  EXPECT_EQ(posterior_warnings(weighted(40, 0.5)).size(), 1u);
  EXPECT_EQ(posterior_warnings(weighted(1000, 0.9)).size(), 1u);
  EXPECT_EQ(posterior_warnings(weighted(40, 0.9)).size(), 2u);
  EXPECT_EQ(posterior_warnings(weighted(kNaN, 0.9)).size(), 2u);
  // A tail that looks heavy, of next to no weight.
  EXPECT_TRUE(posterior_warnings(weighted(7000, 1.2)).empty());
}

TEST(Warnings, OfChainsAndOfWhatWasNotWeighed) {
  PosteriorSummary chains{.samples = 10'000, .ess = 500, .chains = 4, .rhat = 1.2};
  EXPECT_EQ(posterior_warnings(chains).size(), 1u);
  chains.rhat = 1.01;
  EXPECT_TRUE(posterior_warnings(chains).empty());
  PosteriorSummary draws = weighted(3, 2);
  draws.approximate = true;
  EXPECT_TRUE(posterior_warnings(draws).empty());
}

TEST(Warnings, OfSurrogates) {
  RunReport report;
  EXPECT_TRUE(surrogate_warnings("s.psn", report).empty());
  report.surrogate = SurrogateQuality{};
  EXPECT_EQ(surrogate_warnings("s.psn", report).size(), 1u);
  report.surrogate->kl = HeldOutKl{.nats = kMostKl / 2};
  EXPECT_TRUE(surrogate_warnings("s.psn", report).empty());
  report.surrogate->kl = HeldOutKl{.nats = 2 * kMostKl};
  EXPECT_NE(surrogate_warnings("s.psn", report).at(0).find("'s.psn'"), std::string::npos);
}

TEST(Warnings, OfObservationsFarOut) {
  const RemoteObservation usual{.remoteness = 4, .traces = 5000};
  EXPECT_TRUE(observation_warnings("q.psn", 4, usual).empty());
  EXPECT_NE(observation_warnings("q.psn", 4.1, usual).at(0).find("'q.psn'"), std::string::npos);
}

TEST(Warnings, OfTraining) {
  Progress last;
  last.finished = true;
  EXPECT_TRUE(training_warnings(last, false).empty());
  last.validation = Validation{.traces = 100, .kl = 2 * kMostKl};
  EXPECT_EQ(training_warnings(last, false).size(), 1u);
  last.validation = Validation{.traces = 100, .loss = 6.93, .prior_loss = 6.93};
  EXPECT_EQ(training_warnings(last, true).size(), 1u);
  last.validation =
      Validation{.traces = 100, .loss = 6, .standard_error = 0.02, .prior_loss = 6.93};
  last.validation->linear_loss = 5.9;  // not beyond chance
  EXPECT_EQ(training_warnings(last, true).size(), 0u);
  last.validation->linear_loss = 5.8;
  EXPECT_EQ(training_warnings(last, true).size(), 1u);
  last.finished = false;
  EXPECT_TRUE(training_warnings(last, true).empty());
}

Progress report(double loss) {
  Progress p;
  p.loss = p.kl = loss;
  return p;
}

TEST(Verdicts, SayWhetherTheLossStillFell) {
  std::vector<Progress> falling, flat;
  for (int i = 0; i < 40; ++i) {
    const double noise = 0.01 * (i % 3);
    falling.push_back(report(4 - 0.05 * i + noise));
    flat.push_back(report(1 + noise));
  }
  Progress last;
  last.finished = true;
  EXPECT_EQ(training_verdict(falling, last, true), "");  // nothing was held out
  last.validation = Validation{.traces = 100, .loss = 2, .kl = 0.5, .prior_loss = 3};
  const auto says = [&](const std::vector<Progress>& course, bool infers, const char* what) {
    const std::string verdict = training_verdict(course, last, infers);
    return verdict.find(what) != std::string::npos;
  };
  for (const bool infers : {false, true}) {
    EXPECT_TRUE(says(falling, infers, "still fell"));
    EXPECT_TRUE(says(flat, infers, "hardly fell"));
    EXPECT_FALSE(says({flat.begin(), flat.begin() + 5}, infers, "fell"));
  }
  EXPECT_TRUE(says(flat, true, "1 nats per trace better than the prior's"));
  EXPECT_TRUE(says(flat, false, "not good enough"));
  last.validation->kl = kMostKl / 2;
  EXPECT_TRUE(says(falling, false, "good: within"));
}

// What is said by way of punctuation alone has no remedy of its own.
TEST(Warnings, AllAreExplained) {
  std::vector<std::string> all = posterior_warnings(weighted(40, 0.9));
  const auto add = [&](const std::vector<std::string>& more) {
    all.insert(all.end(), more.begin(), more.end());
  };
  add(posterior_warnings(weighted(kNaN, 0.1)));
  add(posterior_warnings({.samples = 10'000, .ess = 500, .chains = 4, .rhat = 1.2}));
  RunReport report;
  report.surrogate = SurrogateQuality{};
  add(surrogate_warnings("s.psn", report));
  report.surrogate->kl = HeldOutKl{.nats = 2 * kMostKl};
  add(surrogate_warnings("s.psn", report));
  add(observation_warnings("q.psn", 9, {.remoteness = 4, .traces = 5000}));
  Progress last{.finished = true};
  last.validation = Validation{.traces = 100, .loss = 1, .kl = 1, .prior_loss = 1};
  add(training_warnings(last, false));
  add(training_warnings(last, true));
  last.validation = Validation{.traces = 100, .loss = 1, .prior_loss = 3, .linear_loss = 0};
  add(training_warnings(last, true));
  EXPECT_EQ(all.size(), 10u);
  for (const std::string& warning : all) {
    const Finding finding = explained(warning);
    EXPECT_EQ(finding.warning, warning);
    EXPECT_NE(finding.reason, "") << warning;
    EXPECT_NE(finding.remedy, "") << warning;
    EXPECT_EQ(warning.find(finding.remedy), std::string::npos) << warning;  // it says more
  }
}

}  // namespace
}  // namespace psn::services
