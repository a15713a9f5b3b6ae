// What can be asked of runs, and held fixed in them, from the command line.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/cli/command_test.h"

namespace psn {
namespace {

using test::CommandTest;
using test::slurp;

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

// The name of a list is all of it, of a loop of random length too.
TEST_F(QueryCommands, AListIsAQuery) {
  const auto states = json("infer hmm -n 200 --query x")["posterior"];
  EXPECT_EQ(states.size(), 16u);
  EXPECT_EQ(states, json("infer hmm -n 200")["posterior"]);
  const auto weeks = json("infer epidemic -n 200 --query reported,contacts")["posterior"];
  EXPECT_EQ(weeks.size(), 11u);
  EXPECT_TRUE(weeks.contains("reported_9"));
  EXPECT_GT(json("infer epidemic -n 200 --query wait")["posterior"].size(), 10u);
  expect_error("infer epidemic -n 20 --query reportd", 64, "did you mean 'reported'?");
  expect_error("infer epidemic -n 20 --query nothing", 64, "it observes: reported_0 to reported_9");
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
  expect_error("infer gaussian --given mu=2 --observe mu=2", 64, "'mu' is both given and observed");
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

// gaussian returns mu, and the other one tags it.
TEST_F(QueryCommands, ASurrogateLearnsTagsAndResults) {
  const std::string small =
      " --traces 8000 --lstm_dim 24 --batch_size 64 --validation 200 --seed 1";
  json("train surrogate gaussian --out s.psn" + small);
  const auto posterior = json("infer s.psn -n 5000 --query mu,result" + kData);
  EXPECT_EQ(posterior["learned"], nlohmann::json({"result"}));
  const auto& columns = posterior["posterior"];
  EXPECT_NEAR(columns["result"]["mean"].get<double>(), columns["mu"]["mean"].get<double>(), 0.4);
  EXPECT_NE(psn("infer s.psn -n 500 --query result" + kData).out.find("learned by the surrogate"),
            std::string::npos);
  const auto nodes = json("inspect s.psn")["nodes"];
  EXPECT_EQ(std::count_if(nodes.begin(), nodes.end(),
                          [](const auto& node) { return node.contains("learned"); }),
            1);
  json("infer gaussian -n 2000 --out post" + kData);
  const auto predicted = json("predict post s.psn -n 2000 --query obs0,result");
  EXPECT_EQ(predicted["model"], "s.psn");
  EXPECT_EQ(predicted["new_latents"], 0);
  EXPECT_EQ(predicted["learned"], nlohmann::json({"result"}));
  EXPECT_NEAR(predicted["predictive"]["obs0"]["mean"].get<double>(), 2.25, 0.5);
}

TEST_F(QueryCommands, LearnedTagsAreMarkedAndCanBeLeftOut) {
  const std::string train =
      "train surrogate gaussian-marsaglia --traces 640 --lstm_dim 16 "
      "--batch_size 64 --validation 50 --out ";
  json(train + "t.psn");
  const auto shown = psn("simulate t.psn -n 1 --show 1");
  EXPECT_NE(shown.out.find("tag      mu__Tag__1 = "), std::string::npos) << shown.out;
  EXPECT_NE(shown.out.find("  learned"), std::string::npos) << shown.out;
  for (const std::string engine : {"is", "lmh", "rmh"}) {
    EXPECT_EQ(json("infer t.psn -n 200 --query mu --engine " + engine + kData)["learned"].size(),
              1u);
  }
  json("data generate t.psn -n 300 --out store");
  json("train surrogate --data store --traces 128 --lstm_dim 8 --validation 10 --out again.psn");
  // After the correction it is the simulator's own, and not learned.
  const std::string correct = " -n 2000 --correct 500 --simulator gaussian-marsaglia --query mu";
  const auto corrected = psn("infer t.psn --json" + correct + kData);
  ASSERT_EQ(corrected.code, 0) << corrected.err;
  EXPECT_FALSE(nlohmann::json::parse(corrected.out).contains("learned"));

  json(train + "n.psn --tags ignore");
  expect_error("infer n.psn --query result", 64, "--tags learn");
  EXPECT_EQ(psn("infer n.psn --json" + correct + kData).code, 0);
}

TEST_F(QueryCommands, AFactorIsRefusedWithWhatToDo) {
  const std::string model = "'" PSN_WEIGHING_MODEL "'";
  expect_error("train surrogate " + model + " --out s.psn --traces 100 --quiet", 64,
               "'penalty__Factor__1' is a factor");
  expect_error("train surrogate " + model + " --out s.psn --traces 100 --quiet", 64,
               "state it as an observation");
  EXPECT_EQ(json("infer " + model + " -n 500 --observe x=1")["samples"], 500);
}

}  // namespace
}  // namespace psn
