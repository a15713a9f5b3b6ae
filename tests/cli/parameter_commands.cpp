// A few latents are moved or proposed, the rest is drawn by the model.
#include <gtest/gtest.h>

#include "tests/cli/command_test.h"
#include "tests/law/exact_answers.h"

namespace psn {
namespace {

using namespace test;

class ParameterCommands : public CommandTest {
 protected:
  static constexpr const char* kBranching = "--observe obs=6 --query count --seed 1 ";

  // Of the exact one, by the effective sample size; 4.9 standard errors.
  static void expect_answer(const nlohmann::json& result) {
    const BranchingAnswer exact = branching_answer();
    const double ess = result["ess"];
    EXPECT_GT(ess, 100);
    EXPECT_NEAR(result["posterior"]["count"]["mean"].get<double>(), exact.mean,
                kStandardErrors * exact.sd / std::sqrt(ess));
  }
};

TEST_F(ParameterCommands, MoveThem) {
  const std::string infer = std::string("infer branching --parameters count ") + kBranching;
  const auto result = json(infer + "-n 4000");
  EXPECT_EQ(result["engine"], "pm");
  EXPECT_EQ(result["marginal"]["moves"], 0);
  EXPECT_GE(result["marginal"]["runs"].get<double>(), 1);
  expect_answer(result);

  const auto limited = json(infer + "--max-runs 4001 --until ess=1e6");
  EXPECT_EQ(limited["stopped"]["reason"], "runs");
  EXPECT_LE(limited["simulator_runs"].get<int>(), 4001);
  EXPECT_GE(limited["simulator_runs"].get<int>(),
            2000);  // chains of equal length take runs of their own

  expect_error("infer branching --engine pm --observe obs=6", 64, "--parameters NAME,NAME");
  expect_error("infer branching --engine lmh --parameters count --observe obs=6", 64,
               "--parameters are for --engine pm or da, and for --correct");
  expect_error("infer branching --parameters coumt --observe obs=6", 64, "coumt");
}

TEST_F(ParameterCommands, MoveInsideASurrogateAndCorrectIt) {
  json("train surrogate branching --traces 3000 --lstm_dim 16 --out s.psn");
  const auto inside = json(std::string("infer branching --engine da --surrogate s.psn ") +
                           "--parameters count -n 2000 " + kBranching);
  EXPECT_EQ(inside["engine"], "pm");
  EXPECT_GE(inside["marginal"]["moves"].get<double>(), 1);
  expect_answer(inside);

  const auto corrected = json(std::string("infer s.psn --simulator branching -n 2000 ") +
                              "--correct 3000 --parameters count " + kBranching);
  EXPECT_EQ(corrected["correction"]["runs"], 3000);
  EXPECT_EQ(corrected["simulator_runs"], 3000);
  expect_answer(corrected);
}

}  // namespace
}  // namespace psn
