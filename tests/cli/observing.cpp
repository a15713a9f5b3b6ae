// Observations as a user gives them: by name or address, at observations and latents, with gaps;
// what was used how often is told, and what cannot be meant is refused.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "tests/cli/command_test.h"

namespace {

using Observing = psn::test::CommandTest;

const std::string kInfer = "infer " PSN_PLUGIN_DIR "/libobserved_model.so -n 20000 ";

double log_normal(double x, double mean, double sd) {
  return -0.5 * std::pow((x - mean) / sd, 2) - std::log(sd) - 0.5 * std::log(2 * M_PI);
}

TEST_F(Observing, WhatWasUsedIsTold) {
  const auto result = json(kInfer + "--observe twice=[1,2] --observe count=3 --query mu");
  const auto& twice = result["observations"]["twice"];
  EXPECT_EQ(twice["values"], 2);
  EXPECT_NEAR(twice["used"].get<double>(), 2, 1e-9);
  EXPECT_EQ(twice["unused_share"], 0);
  EXPECT_FALSE(twice.contains("partly_used_share"));
  EXPECT_NEAR(result["observations"]["count"]["used"].get<double>(), 1, 1e-9);
  EXPECT_FALSE(result.contains("prior"));
  EXPECT_EQ(result["posterior"].size(), 1u);
  const auto outcome = psn(kInfer + "--observe twice=[1,2] --observe count=3 --query mu");
  EXPECT_NE(outcome.out.find("values used by a trace: count 1 of 1, twice 2 of 2"),
            std::string::npos)
      << outcome.out;
  EXPECT_EQ(outcome.err, "");
}

// Of flag = 0 and 1 with prior 1/2 each, only the second comes to 'seldom', which is then Normal
// with variance 2.
TEST_F(Observing, AnObservationThatMostOfTheWeightNeverSaw) {
  const std::string arguments = kInfer + "--observe seldom=3 --query mu";
  const double share = 1 / (1 + std::exp(log_normal(3, 0, std::sqrt(2.0))));
  // 10,000 traces of each kind: the share's standard error is below 0.001.
  EXPECT_NEAR(json(arguments)["observations"]["seldom"]["unused_share"].get<double>(), share,
              0.006);
  EXPECT_NE(psn(arguments).err.find("of the weight never came to the observation 'seldom'"),
            std::string::npos);
}

TEST_F(Observing, WhatCannotBeMeant) {
  expect_error(kInfer + "--observe twice=1", 64,
               "'twice__Normal__1' and 'twice__Normal__2' of one run would take the same value");
  expect_error(kInfer + "--observe twice=[1,2,3]", 64, "has 3 values, but the model takes 2");
  expect_error(kInfer + "--observe either=[1,2,3]", 64,
               "'either__Normal[3]__1' takes all of them, but 'either__Normal__1' only one");
  expect_error(kInfer + "--observe field=[1,2]", 64,
               "has 2 values, but the model takes 3 at 'field__Normal[3]__1'");
  expect_error(kInfer + "--observe count=9.5", 64,
               "observation 'count': Poisson yields whole numbers from 0, never 9.5");
  expect_error(kInfer + "--observe count=-9", 64, "whole numbers from 0, never -9");
  expect_error(kInfer + "--observe flag=2", 64, "whole numbers from 0 to 1, never 2");
  expect_error(kInfer + "--observe mu=1 --observe mu=2", 64, "'mu' is there twice");
  expect_error(kInfer + "--observe count=3 --observe count__Poisson__1=4", 64,
               "'count' is used nowhere: 'count__Poisson__1' is observed by its address");
  expect_error(kInfer + "--observe nu=1", 64, "did you mean 'mu'?");
  expect_error(kInfer + "--observe nothing=1", 64, "either, series_0 to series_29");
  std::ofstream(folder_ / "twice.json") << R"({"mu": 1, "rate": 1, "mu": 2})";
  expect_error(kInfer + "--observations twice.json", 65, "'mu' is there twice");
  std::ofstream(folder_ / "twice.toml") << "seed = 1\nseed = 2\n";
  expect_error(kInfer + "--config twice.toml", 65, "'twice.toml', line 2");
}

// Given mu, the evidence of what depends on it alone is a number without any error.
TEST_F(Observing, ALatent) {
  const double exact = log_normal(0.5, 0, 1) + log_normal(1, 0.5, 1) + log_normal(2, 0.5, 1);
  for (const std::string name : {"mu", "mu__Normal__1"}) {
    const auto result = json(kInfer + "--observe " + name + "=0.5 --observe twice=[1,2]");
    EXPECT_NEAR(result["log_evidence"].get<double>(), exact, 1e-9) << name;
    EXPECT_EQ(result["observations"][name]["values"], 1);
  }
  EXPECT_FALSE(json(kInfer + "--observe mu=0.5")["posterior"].contains("mu"));
  // rate | count ~ Gamma(5, 2); 20,000 samples, so 0.06 is above 4 standard errors of importance
  // sampling, and of the others' chains.
  for (const std::string engine : {"is", "lmh", "rmh"}) {
    const auto result = json(kInfer + "--observe mu=0.5 --observe count=3 --query rate,grid " +
                             "--engine " + engine);
    const double error = 1.118 / std::sqrt(result["ess"].get<double>());
    EXPECT_NEAR(result["posterior"]["rate"]["mean"].get<double>(), 2.5, 4.9 * error) << engine;
    EXPECT_NEAR(result["posterior"]["grid"]["mean"][0].get<double>(), 0.5,
                4.9 / std::sqrt(result["ess"].get<double>()))
        << engine;
  }
}

TEST_F(Observing, AddressesWithCommas) {
  const auto result =
      json(kInfer + "--observe 'field__Normal[3]__1=[1,2,3]' --query 'grid__Normal[2,2]__1,mu'");
  EXPECT_EQ(result["posterior"].size(), 2u);
  EXPECT_EQ(result["posterior"]["grid__Normal[2,2]__1"]["mean"].size(), 4u);
  EXPECT_EQ(result["observations"]["field__Normal[3]__1"]["values"], 3);
  const auto grid = json(kInfer + "--observe 'grid__Normal[2,2]__1=[[1,0],[0,0]]' --query mu");
  EXPECT_NEAR(grid["posterior"]["mu"]["mean"].get<double>(), 0.5, 0.05);
  expect_error(kInfer + "--query 'grid__Normal[2,2]__2,mu'", 64,
               "--query 'grid__Normal[2,2]__2': the model has no variable of that name");
}

// mu | y0, y2 ~ Normal: precision 1 + 1 + 4.
TEST_F(Observing, Gaps) {
  const double mean = (1.2 + 4 * 0.7) / 6, sd = 1 / std::sqrt(6.0);
  std::ofstream(folder_ / "gap.json") << R"({"field": [1.2, null, 0.7]})";
  for (const std::string& how :
       {std::string("--observe 'field=[1.2,null,0.7]'"), std::string("--observations gap.json")}) {
    const auto result = json(kInfer + how + " --query mu,field");
    const double error = 1 / std::sqrt(result["ess"].get<double>());
    EXPECT_NEAR(result["posterior"]["mu"]["mean"].get<double>(), mean, 4.9 * sd * error);
    // The gap is filled by what the program would have drawn.
    EXPECT_NEAR(result["posterior"]["field"]["mean"][1].get<double>(), mean,
                4.9 * std::sqrt(sd * sd + 4) * error);
    EXPECT_NEAR(result["posterior"]["field"]["sd"][0].get<double>(), 0, 1e-6);
    EXPECT_EQ(result["observations"]["field"]["values"], 2);
    EXPECT_EQ(result["observations"]["field"]["unused_share"], 0);
  }
  std::ofstream(folder_ / "gap.csv") << "twice,series\n1,\n,\n";
  expect_error(kInfer + "--observations gap.csv", 64, "'series' has 2 values");
  std::ofstream(folder_ / "gap2.csv") << "twice,count\n1,3\n,3\n";
  expect_error(kInfer + "--observations gap2.csv", 64, "'count' has 2 values");
  std::ofstream(folder_ / "gap3.csv") << "twice\n1\n\"\"\n";
  const auto result = json(kInfer + "--observations gap3.csv --query mu");
  EXPECT_EQ(result["observations"]["twice"]["values"], 1);
}

TEST_F(Observing, AddressesInAStore) {
  ASSERT_EQ(psn("data generate " PSN_PLUGIN_DIR "/libobserved_model.so -n 10 --out store").code, 0);
  ASSERT_EQ(psn("data export store --query 'grid__Normal[2,2]__1,mu' --out t.csv").code, 0);
  EXPECT_TRUE(
      psn::test::slurp(folder_ / "t.csv").starts_with("log_weight,\"grid__Normal[2,2]__1[0]\","));
}

TEST_F(Observing, NothingIsThePrior) {
  EXPECT_EQ(json(kInfer + "--query mu")["prior"], true);
  EXPECT_NE(psn(kInfer + "--query mu").err.find("nothing was observed, so this is the prior"),
            std::string::npos);
  EXPECT_FALSE(json("infer gaussian -n 100").contains("prior"));  // has data of its own
}

// The network sees a latent that is given, and is not asked for it.
TEST_F(Observing, WithAnInferenceNetworkAndInASurrogate) {
  const std::string model = PSN_PLUGIN_DIR "/libobserved_model.so";
  const std::string recipe = " --traces 2000 --batch-size 100 --lstm-dim 16 --validation 200 ";
  ASSERT_EQ(psn("train inference " + model + recipe + "--missing 0.5 --out n.psn").code, 0);
  const std::string data = "--observe mu=0.5 --observe count=3 --query rate ";
  const auto guided = json(kInfer + data + "--engine ic --network n.psn");
  EXPECT_NEAR(guided["posterior"]["rate"]["mean"].get<double>(), 2.5,
              4.9 * 1.118 / std::sqrt(guided["ess"].get<double>()));
  ASSERT_EQ(psn("train surrogate " + model + recipe + "--out s.psn").code, 0);
  for (const std::string engine : {"is", "lmh", "rmh"}) {
    const auto result = json("infer s.psn -n 2000 " + data + "--engine " + engine);
    EXPECT_EQ(result["observations"]["mu"]["unused_share"], 0) << engine;
  }
}

}  // namespace
