// What can be asked of runs, and held fixed in them, from the command line.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/cli/command_test.h"

namespace psn {
namespace {

using testing::CommandTest;
using testing::slurp;

class QueryCommands : public CommandTest {};

const std::string kData = " --observe obs0=2 --observe obs1=3 --seed 3 ";

// log N(2; mu, sqrt 2) + log N(3; mu, sqrt 2).
double log_likelihood(double mu) {
  return -std::log(4 * M_PI) - ((2 - mu) * (2 - mu) + (3 - mu) * (3 - mu)) / 4;
}

TEST_F(QueryCommands, TheReturnValueIsAQuery) {
  for (const std::string engine : {"is", "lmh", "rmh"}) {
    const auto posterior =
        json("infer gaussian -n 2000 --query mu,result --engine " + engine + kData)["posterior"];
    EXPECT_EQ(posterior["result"], posterior["mu"]) << engine;  // what the program returns
  }
  ASSERT_EQ(psn("simulate hmm -n 20 --query x_15,result --out o --quiet").code, 0);
  std::istringstream rows(slurp(folder_ / "o" / "samples.csv"));
  std::string row;
  std::getline(rows, row);
  EXPECT_EQ(row, "log_weight,x_15,result");
  int seen = 0;
  for (; std::getline(rows, row); ++seen) {
    const auto last = row.rfind(','), first = row.rfind(',', last - 1);
    EXPECT_EQ(row.substr(first + 1, last - first - 1), row.substr(last + 1)) << row;
  }
  EXPECT_EQ(seen, 20);
  expect_error("infer program-synthesis -n 5 --query result", 64, "returns nothing");
}

TEST_F(QueryCommands, ALatentIsHeldWithoutBeingWeighed) {
  for (const std::string engine : {"is", "lmh", "rmh"}) {
    const auto result = json("infer gaussian -n 200 --given mu=1.5 --engine " + engine + kData);
    EXPECT_EQ(result["posterior"]["mu"]["mean"], 1.5) << engine;
    EXPECT_EQ(result["posterior"]["mu"]["sd"], 0) << engine;
    if (engine != "is") continue;
    EXPECT_NEAR(result["log_evidence"].get<double>(), log_likelihood(1.5), 1e-9);
  }
  const auto shown = psn("simulate gaussian -n 1 --show 1 --given mu=1.5");
  EXPECT_NE(shown.out.find("mu__Normal__1 = 1.5  held"), std::string::npos) << shown.out;
  // A vector feeds indexed sites.
  const auto states = json("infer hmm -n 500 --given 'x=[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,2]'");
  EXPECT_EQ(states["posterior"]["x_0"]["mean"], 1);
  EXPECT_EQ(states["posterior"]["x_15"]["mean"], 2);
}

TEST_F(QueryCommands, WhatCannotBeHeldIsSaid) {
  expect_error("infer gaussian --given obs0=2", 64, "--observe conditions on");
  expect_error("infer gaussian-marsaglia --given mu=2", 64, "a tag");
  expect_error("simulate gaussian --given nu=2", 64, "--given 'nu'");
  expect_error("simulate gaussian --given mu", 64, "--given 'mu': expected NAME=VALUE");
  expect_error("simulate gaussian-marsaglia --given u=2", 70, "held at 2");
}

// The posterior of mu is N(2.25, 5/6), so a measurement would again be N(2.25, 17/6).
TEST_F(QueryCommands, PredictsWhatWouldBeMeasuredAgain) {
  for (const std::string engine : {"is", "lmh"}) {
    json("infer gaussian -n 20000 --out post --engine " + engine + kData);
    const auto result = json("predict post -n 20000 --seed 5");
    EXPECT_EQ(result["model"], "gaussian");
    EXPECT_EQ(result["samples"], 20000);
    EXPECT_EQ(result["draws"], 10000);
    EXPECT_EQ(result["new_latents"], 0);
    EXPECT_EQ(result["predictive"].size(), 2u);  // the observations
    for (const char* name : {"obs0", "obs1"}) {
      // Of the 20,000 samples a tenth counts, at the least.
      EXPECT_NEAR(result["predictive"][name]["mean"].get<double>(), 2.25, 4.9 * 0.92 / 44);
      EXPECT_NEAR(result["predictive"][name]["sd"].get<double>(), std::sqrt(17.0 / 6), 0.1);
    }
    std::filesystem::remove_all(folder_ / "post");
  }
}

TEST_F(QueryCommands, PredictionsCanBeAskedAndWritten) {
  json("infer gaussian -n 2000 --out post" + kData);
  const auto asked = json("predict post -n 500 --query mu,result --out again");
  EXPECT_EQ(asked["predictive"]["mu"], asked["predictive"]["result"]);
  EXPECT_LT(asked["predictive"]["mu"]["sd"].get<double>(), 1.2);  // the prior's is 2.2
  for (const char* name : {"predictive.csv", "predictive.safetensors", "config.toml"}) {
    EXPECT_TRUE(std::filesystem::exists(folder_ / "again" / name)) << name;
  }
  const auto held = json("predict post -n 2000 --given mu=20 --query mu,obs0")["predictive"];
  EXPECT_EQ(held["mu"]["sd"], 0);
  EXPECT_NEAR(held["obs0"]["mean"].get<double>(), 20, 4.9 * 1.42 / 44);
  // In another simulator of the same addresses: here the model over PPX.
  const auto remote =
      json("predict post 'exec:" PSN_PROGRAM " serve gaussian --ppx {endpoint}' -n 200 --query mu");
  EXPECT_EQ(remote["new_latents"], 0);
  EXPECT_EQ(remote["predictive"], json("predict post -n 200 --query mu")["predictive"]);

  expect_error("predict nowhere", 65, "nowhere");
  json("infer gaussian -n 200 --draws 0 --out none" + kData);
  expect_error("predict none", 65, "--draws");
  expect_error("predict post --query nu", 64, "'nu'");
  std::ofstream(folder_ / "post" / "draws.safetensors") << "nonsense";
  expect_error("predict post", 65, "draws.safetensors");
}

}  // namespace
}  // namespace psn
