// psn infer --keep: runs that answer the next question, too.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/cli/command_test.h"
#include "tests/law/exact_answers.h"

namespace psn {
namespace {

using namespace test;

class KeptRunsCommands : public CommandTest {
 protected:
  // 4.9 standard errors.
  static void expect_mu(const nlohmann::json& result, const GaussianAnswer& exact) {
    const double ess = result["ess"];
    EXPECT_GT(ess, 50);
    EXPECT_NEAR(result["posterior"]["mu"]["mean"].get<double>(), exact.mean,
                kStandardErrors * exact.sd / std::sqrt(ess));
  }
};

TEST_F(KeptRunsCommands, AnswerTheNextQuestion) {
  const std::string infer = "infer gaussian --keep runs ";
  const auto first = json(infer + "--observe obs0=2 --observe obs1=3 -n 2000 --seed 7");
  EXPECT_EQ(first["kept"]["found"], 0);
  EXPECT_EQ(first["simulator_runs"], 2020);  // twenty to see that it is the same when observed
  expect_mu(first, gaussian_answer(2, 3));

  const auto second = json(infer + "--observe obs0=-1 --observe obs1=1 -n 1000");
  EXPECT_EQ(second["kept"]["found"], 2000);
  EXPECT_EQ(second["samples"], 2000);
  EXPECT_EQ(second["simulator_runs"], 20);
  expect_mu(second, gaussian_answer(-1, 1));

  const auto third = json(infer + "--observe obs0=4 --observe obs1=5 -n 500 --until ess=900");
  EXPECT_EQ(third["stopped"]["reason"], "precision");
  EXPECT_EQ(third["simulator_runs"].get<int>(), third["samples"].get<int>() - 2000 + 20);
  expect_mu(third, gaussian_answer(4, 5));

  const auto limited =
      json(infer + "--observe obs0=4 --observe obs1=5 -n 100000 --max-runs 300 --until ess=1e6");
  EXPECT_EQ(limited["samples"].get<int>(), third["samples"].get<int>() + 300);
  EXPECT_EQ(limited["stopped"]["reason"], "runs");

  // What is there is as if it had been generated.
  EXPECT_EQ(json("data verify runs")["traces"], limited["samples"]);
  json("data generate gaussian --seed 7 -n 2000 --out generated");
  EXPECT_EQ(psn("train surrogate --data runs --traces 500 --lstm_dim 8 --out s.psn").code, 0);
  json("infer gaussian --keep generated --observe obs0=2 --observe obs1=3 -n 2000 --out r");
  EXPECT_EQ(psn("infer gaussian --keep generated --observe obs0=2 --observe obs1=3 -n 10").code, 0);
}

TEST_F(KeptRunsCommands, RefuseWhatWouldHaveBeenOtherRuns) {
  const std::string keep = " -n 200 --keep runs ";
  // obs1 has data of its own in the program, which a run of the prior does not use.
  expect_error("infer gaussian --observe obs0=2" + keep, 64, "would have been others");
  expect_error("infer gaussian --observe mu=2 --observe obs0=1 --observe obs1=1" + keep, 64,
               "'mu__Normal__1' is a latent");
  expect_error("infer branching --observe obs=6" + keep, 65, "holds traces of 'gaussian'");
  expect_error("infer gaussian --engine lmh --observe obs0=2" + keep, 64,
               "--keep is for --engine is");
}

}  // namespace
}  // namespace psn
