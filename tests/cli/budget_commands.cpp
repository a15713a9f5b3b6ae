// A time instead of a number of traces: psn train --budget, psn zoo.
#include <gtest/gtest.h>

#include "tests/cli/command_test.h"

namespace psn {
namespace {

using test::CommandTest;
using test::slurp;

class BudgetCommands : public CommandTest {};

TEST_F(BudgetCommands, BecomeNumbersThatCanBeRepeated) {
  const auto first = json("train surrogate gaussian --budget 2s --lstm_dim 16 --out s.psn");
  EXPECT_EQ(first["finished"], true);
  EXPECT_GE(first["traces"].get<int>(), 100);
  const std::string config = slurp(folder_ / "s.psn.toml");
  EXPECT_NE(config.find("\ntraces = " + first["traces"].dump() + "\n"), std::string::npos);
  // What was measured is not measured again.
  json("train --config s.psn.toml --out again.psn");
  EXPECT_EQ(slurp(folder_ / "s.psn"), slurp(folder_ / "again.psn"));
}

TEST_F(BudgetCommands, GoOnWithTheSameNumber) {
  const std::string command = "train inference gaussian --budget 6s --lstm_dim 16 --out q.psn ";
  const auto begun = json(command + "--max-time 1s");
  ASSERT_EQ(begun["finished"], false);
  EXPECT_EQ(json(command + "--resume")["finished"], true);
}

TEST_F(BudgetCommands, AreRefusedWhereTheyMakeNoSense) {
  EXPECT_EQ(psn("data generate gaussian --out d -n 200").code, 0);
  const auto stored = psn("train surrogate --data d --budget 2s --out s.psn");
  EXPECT_EQ(stored.code, 64);
  EXPECT_NE(stored.err.find("--budget is for a model"), std::string::npos) << stored.err;
  EXPECT_EQ(psn("train surrogate gaussian --budget soon --out s.psn").code, 64);
}

TEST_F(BudgetCommands, JudgeTheZoo) {
  const std::string command = "zoo two-scales --budget 6s -n 2000 --seed 1 --out zoo ";
  const auto result = json(command);
  ASSERT_EQ(result["trials"].size(), 1u);
  const auto& trial = result["trials"][0];
  EXPECT_EQ(trial["program"], "zoo-two-scales");
  EXPECT_EQ(trial["choices"], 2);
  EXPECT_GT(trial["simulator_runs"].get<int>(), 1000);
  EXPECT_GT(trial["ic_in_simulator"]["ess_share"].get<double>(), 0);
  EXPECT_GE(trial["c2st_network"].get<double>(), 0.45);
  // What is done is not done again, and nothing is lost with the last file.
  EXPECT_EQ(json(command), result);
  const auto names = psn("zoo two-scale --out zoo");
  EXPECT_EQ(names.code, 64);
  EXPECT_NE(names.err.find("did you mean 'zoo-two-scales'"), std::string::npos);
}

TEST_F(BudgetCommands, JudgeTheZooFromStoredRuns) {
  const auto result = json("zoo two-scales --runs 1000 -n 1000 --out zoo");
  EXPECT_EQ(result["trials"][0]["simulator_runs"], 1000);
}

}  // namespace
}  // namespace psn
