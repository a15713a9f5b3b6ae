// psn validate, calibrate and criticise, as a user meets them.
#include "tests/cli/command_test.h"

namespace psn {
namespace {

class EvidenceCommands : public test::CommandTest {
 protected:
  void train(const std::string& arguments, const std::string& out) const {
    const auto outcome = psn("train " + arguments + " --out " + out + " --seed 1 --quiet");
    ASSERT_EQ(outcome.code, 0) << outcome.err;
  }

  nlohmann::json summary(const std::string& folder) const {
    return nlohmann::json::parse(test::slurp(folder_ / folder / "summary.json"));
  }

  static void expect_curve(const nlohmann::json& curve) {
    for (const char* key : {"difference", "low", "high"}) {
      EXPECT_EQ(curve.at(key).size(), curve.at("z").size());
    }
    EXPECT_LE(curve.at("z").size(), 200u);
    EXPECT_GT(curve.at("count"), 0);
  }
};

TEST_F(EvidenceCommands, ValidateWritesWhatItPrints) {
  train("surrogate control-flow --traces 2000 --core_dim 32", "s.psn");
  const auto printed = json("validate control-flow s.psn -n 1000 --out v");
  EXPECT_EQ(printed, summary("v"));
  EXPECT_EQ(printed["kind"], "validation");
  EXPECT_EQ(printed["traces"], 1000);
  const bool undecided = printed["undecided"];
  EXPECT_EQ(printed["passed"], printed["reasons"].empty() && !undecided);
  EXPECT_GT(printed["tests"].size(), 5u);
  for (const auto& address : printed["addresses"]) {
    if (!address["pit"].is_null()) expect_curve(address["pit"]);
  }
  EXPECT_GT(printed["speed"]["ratio"], 0);
  EXPECT_TRUE(printed["classifier"]["accuracy"].is_number());
  const auto words = psn("validate control-flow s.psn -n 1000 --quiet");
  const char* verdict = printed["passed"] ? "\npassed" : undecided ? "\nUNDECIDED" : "\nFAILED";
  EXPECT_NE(words.out.find(verdict), std::string::npos) << verdict;

  // By stored traces, the simulator need not run.
  ASSERT_EQ(psn("data generate control-flow --out runs -n 2000 --quiet").code, 0);
  const auto stored = json("validate s.psn --data runs");
  EXPECT_EQ(stored["traces"], 100);  // those held out
  EXPECT_TRUE(stored["speed"]["ratio"].is_null());
  EXPECT_EQ(json("validate s.psn --data runs --all-traces")["traces"], 2000);
}

TEST_F(EvidenceCommands, CalibrateWritesWhatItPrints) {
  train("inference gaussian --traces 3000 --core_dim 32", "q.psn");
  const auto printed =
      json("calibrate gaussian --network q.psn --datasets 100 --draws 100 --out c");
  EXPECT_EQ(printed, summary("c"));
  EXPECT_EQ(printed["kind"], "calibration");
  EXPECT_EQ(printed["engine"], "ic");
  EXPECT_EQ(printed["ess"].size(), 100u);
  EXPECT_EQ(printed["latents"][0]["name"], "mu");
  EXPECT_EQ(printed["latents"][0]["z_score"].size(), 100u);
  expect_curve(printed["latents"][0]["ranks"]);
  expect_curve(printed["tarp"]);
  // Neither threads nor width change a result.
  EXPECT_EQ(printed, json("calibrate gaussian --network q.psn --datasets 100 --draws 100 "
                          "--threads 1 --width 7"));
  const auto own =
      json("calibrate gaussian --network q.psn --datasets 100 --draws 100 --engine network");
  EXPECT_TRUE(own["ess"].is_null());
}

// Stopped by a signal, it goes on to the same result.
TEST_F(EvidenceCommands, CalibrateGoesOnWhereItWasStopped) {
  train("inference gaussian --traces 1000 --core_dim 16", "q.psn");
  const std::string what = "calibrate gaussian --network q.psn --datasets 1500 --draws 500 --out c";
  bool stopped_early = false;
  for (int attempt = 0, delay = 400; attempt < 8 && !stopped_early; ++attempt) {
    const int code = stopped(what, SIGTERM, [&] { wait(delay); });
    stopped_early = std::filesystem::exists(folder_ / "c.unfinished");
    std::filesystem::remove_all(folder_ / "c");
    delay = code == 0 ? delay / 2 : delay * 3 / 2;  // it was done, or had hardly begun
  }
  ASSERT_TRUE(stopped_early);
  expect_error(what, 64, "--resume goes on with it");
  expect_error(what + " --resume --seed 5", 64, "seed");
  const auto outcome = psn(what + " --resume --quiet");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_FALSE(std::filesystem::exists(folder_ / "c.unfinished"));
  EXPECT_EQ(summary("c"), json("calibrate gaussian --network q.psn --datasets 1500 --draws 500"));
}

TEST_F(EvidenceCommands, CriticiseNamesTheSite) {
  const auto fine = json("criticise gaussian -n 500 --replicates 199 --out fine");
  EXPECT_EQ(fine, summary("fine"));
  EXPECT_EQ(fine["kind"], "criticism");
  EXPECT_EQ(fine["sites"].size(), 2u);
  EXPECT_EQ(fine["passed"], true);
  // Given a prior of sd 2.2 and noise of 1.4, such a difference does not happen.
  const auto odd =
      json("criticise gaussian --observe obs0=2 --observe obs1=20 -n 500 --replicates 199");
  EXPECT_EQ(odd["passed"], false);
  EXPECT_EQ(odd["sites"][0]["blamed"], true);
  EXPECT_EQ(odd["reasons"].empty(), false);
}

TEST_F(EvidenceCommands, SayWhatIsWrong) {
  expect_error("validate control-flow", 64, "no surrogate");
  expect_error("validate s.psn control-flow", 64, "no surrogate");
  expect_error("validate s.psn", 64, "'' is no surrogate");
  expect_error("calibrate gaussian", 64, "--network");
  expect_error("calibrate gaussian --network q.psn --datasets 5", 64, "--datasets");
  expect_error("calibrate gaussian --network q.psn", 65, "q.psn");
  expect_error("calibrate gaussian --network q.psn --resume", 64, "--out");
  expect_error("criticise gaussian --engine ic", 64, "--network");
  expect_error("criticise gaussian --observe nothing=1", 64, "nothing");
  expect_error("criticise gaussian --replicates 50", 64, "--replicates");
}

}  // namespace
}  // namespace psn
