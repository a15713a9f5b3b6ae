// psn evidence against exact evidence: a conjugate model, by the prior and by a network; a hidden
// Markov model, by the forward recursion; branches, by enumeration.
#include <gtest/gtest.h>

#include <cmath>

#include "psn/core/families/families.h"
#include "tests/cli/command_test.h"
#include "tests/law/exact_answers.h"

namespace psn {
namespace {

using namespace test;

class ModelEvidenceCommands : public CommandTest {
 protected:
  // 4.9 standard errors, as they are stated.
  static void expect_evidence(const nlohmann::json& model, double exact, double most_error) {
    const double error = model["error"];
    EXPECT_NEAR(model["log_evidence"].get<double>(), exact, kStandardErrors * error) << model;
    EXPECT_GT(error, 0);
    EXPECT_LT(error, most_error);
  }

  // obs0 and obs1 are jointly normal: variances 5 + 2, covariance 5, means 1.
  static double gaussian_evidence(double obs0, double obs1) {
    const double a = obs0 - 1, b = obs1 - 1, determinant = 7 * 7 - 5 * 5;
    const double square = (7 * a * a - 2 * 5 * a * b + 7 * b * b) / determinant;
    return -std::log(2 * M_PI) - 0.5 * std::log(determinant) - 0.5 * square;
  }
};

TEST_F(ModelEvidenceCommands, IsExactForOneModelInTwoForms) {
  const auto result =
      json("evidence gaussian gaussian-marsaglia --observe obs0=8 --observe obs1=9 -n 200000");
  ASSERT_EQ(result["models"].size(), 2u);
  for (const auto& model : result["models"]) {
    expect_evidence(model, gaussian_evidence(8, 9), 0.1);
    EXPECT_EQ(model["simulator_runs"], 200'000);
  }
  const double one = result["models"][0]["probability"], other = result["models"][1]["probability"];
  EXPECT_NEAR(one + other, 1, 1e-9);
  EXPECT_EQ(result["model"], result["models"][one > other ? 0 : 1]["model"]);
}

TEST_F(ModelEvidenceCommands, TakesANetworkWhereItIsBetter) {
  json("train inference gaussian --traces 20000 --lstm_dim 16 --out q.psn");
  const auto result =
      json("evidence gaussian --network gaussian=q.psn --observe obs0=8 --observe obs1=9 -n 5000");
  EXPECT_EQ(result["models"][0]["engine"], "ic");
  EXPECT_EQ(result["models"][0]["simulator_runs"], 6'000);  // and two pilots
  expect_evidence(result["models"][0], gaussian_evidence(8, 9), 0.03);
}

TEST_F(ModelEvidenceCommands, IsExactForAHiddenMarkovModelAndForBranches) {
  const reference::HmmParameters p;
  std::string observe;
  for (int t = 0; t < 16; ++t) {
    observe += " --observe obs_" + std::to_string(t) + "=" + std::to_string(p.data[t]);
  }
  const auto hmm = json("evidence hmm -n 400000" + observe);
  expect_evidence(hmm["models"][0], forward_backward().log_evidence, 0.3);
  const auto branching = json("evidence branching -n 20000 --observe obs=6");
  expect_evidence(branching["models"][0], branching_answer().log_evidence, 0.1);
}

TEST_F(ModelEvidenceCommands, SayWhatIsWrong) {
  expect_error("evidence gaussian gaussian --observe obs0=8", 64, "'gaussian' is there twice");
  expect_error("evidence gaussian --network gausian=q.psn --observe obs0=8", 64,
               "'gausian', which is none of the models; did you mean 'gaussian'?");
  expect_error("evidence gaussian --network q.psn --observe obs0=8", 64, "MODEL=FILE.psn");
  expect_error("evidence gaussian branching --observe obs0=8", 64, "obs0");
  const auto outcome = psn("evidence gaussian --observe obs0=30 --observe obs1=31 -n 1000");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_NE(outcome.err.find("its evidence is hardly known"), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace psn
