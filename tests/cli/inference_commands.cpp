// Inference compilation on the command line, from training to a corrected posterior.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/cli/command_test.h"

namespace psn {
namespace {

using test::CommandTest;
using test::slurp;

class InferenceCommands : public CommandTest {
 protected:
  // Trained once; the tests only read it.
  void SetUp() override {
    CommandTest::SetUp();
    const std::string small = " --lstm_dim 32 --batch_size 64 --seed 1 --validation 500 ";
    json("train inference gaussian --out q.psn --traces 8000" + small);
    json("train surrogate gaussian --out s.psn --traces 4000" + small);
  }
  static constexpr const char* kData = " --observe obs0=2 --observe obs1=3 ";
  static void expect_exact(const nlohmann::json& result) {
    const auto& mu = result["posterior"]["mu"];
    const double sd = std::sqrt(1 / 1.2), error = sd / std::sqrt(result["ess"].get<double>());
    EXPECT_NEAR(mu["mean"].get<double>(), (0.2 + 2.5) / 1.2, 4.9 * error);
    EXPECT_NEAR(mu["sd"].get<double>(), sd, 4.9 * error);
  }
};

TEST_F(InferenceCommands, TrainInferCorrect) {
  const std::string ic =
      std::string(" --engine ic --network q.psn -n 10000 --query mu --seed 2") + kData;
  const auto simulator = json("infer gaussian" + ic);
  expect_exact(simulator);
  EXPECT_GT(simulator["ess"].get<double>(), 5000);
  expect_exact(json("infer gaussian --defensive 0.2" + ic));

  const auto surrogate = json("infer s.psn" + ic);
  EXPECT_GT(surrogate["ess"].get<double>(), 5000);
  const auto corrected = json("infer s.psn --correct 3000 --simulator gaussian" + ic);
  expect_exact(corrected);
  EXPECT_EQ(corrected["samples"], 3000);
  EXPECT_EQ(corrected["correction"]["diverged"], 0);
  EXPECT_GT(corrected["correction"]["ess_before"].get<double>(), 5000);
  EXPECT_EQ(psn("inspect q.psn").code, 0);
  EXPECT_NE(slurp(folder_ / "q.psn.toml").find("kind"), std::string::npos);
}

TEST_F(InferenceCommands, TheNetworksOwnAnswerIsCalledApproximate) {
  const std::string network = std::string(" --network q.psn -n 10000 --query mu --seed 2") + kData;
  for (const std::string model : {"gaussian", "s.psn"}) {
    const auto result = json("infer " + model + " --engine network" + network);
    EXPECT_EQ(result["approximate"], true);
    EXPECT_FALSE(result.contains("log_evidence"));
    EXPECT_FALSE(result.contains("khat"));
    // A trained network is near the posterior; how near is no law.
    EXPECT_NEAR(result["posterior"]["mu"]["mean"].get<double>(), 2.25, 0.3);
  }
  const auto told = psn("infer gaussian --engine network --out own" + network);
  EXPECT_NE(told.out.find("approximate: 10000 draws of the network, not weighed"),
            std::string::npos)
      << told.out;
  EXPECT_NE(told.err.find("--engine ic weighs them"), std::string::npos) << told.err;
  EXPECT_EQ(psn("predict own -n 100").code, 0);
  EXPECT_EQ(psn("infer gaussian --engine network").code, 64);
  EXPECT_EQ(psn("infer gaussian --engine network --defensive 0.1" + network).code, 64);
  EXPECT_EQ(psn("infer s.psn --engine network --correct 10 --simulator gaussian" + network).code,
            64);
}

TEST_F(InferenceCommands, AnObservationUnlikeTheTrainingIsSaid) {
  const std::string how = " --network q.psn -n 1000 --query mu --observe obs1=3 --observe obs0=";
  for (const std::string engine : {"ic", "network"}) {
    const std::string infer = "infer gaussian --engine " + engine + how;
    EXPECT_EQ(json(infer + "2")["warnings"].size(), 0u);
    EXPECT_NE(psn(infer + "200").err.find("the observations are unlike those that 'q.psn'"),
              std::string::npos);
  }
}

TEST_F(InferenceCommands, ANetworkThatLearnedNothingSaysSo) {
  const std::string train =
      "train inference gaussian --lstm_dim 8 --batch_size 64 --validation 500 ";
  const std::string little = train + "--traces 64 --learning_rate 1e-6 ";
  const auto poor = psn(little + "--out poor.psn");
  EXPECT_EQ(poor.code, 0);
  EXPECT_NE(poor.err.find("psn: warning: the network proposes no better than the prior"),
            std::string::npos)
      << poor.err;
  EXPECT_NE(poor.err.find("--traces"), std::string::npos) << "what to do";
  const auto result = json(little + "--out again.psn");
  EXPECT_EQ(result["warnings"].size(), 1u);
  // mu is normal with variance 5.
  const double entropy = 0.5 * std::log(2 * std::numbers::pi * std::numbers::e * 5);
  const auto& held_out = result["validation"];
  EXPECT_NEAR(held_out["prior_loss"].get<double>(), entropy, 4.9 * std::sqrt(0.5 / 500));
  EXPECT_GT(held_out["loss"].get<double>(), held_out["prior_loss"].get<double>() - 0.02);

  const auto good = json(train + "--traces 8000 --out good.psn");
  EXPECT_EQ(good["warnings"].size(), 0u);
  EXPECT_LT(good["validation"]["loss"].get<double>(),
            good["validation"]["prior_loss"].get<double>() - 0.5);
}

TEST_F(InferenceCommands, BadInputIsOneLine) {
  const std::string ic = " --engine ic --network q.psn -n 100 ";
  expect_error("infer hmm" + ic, 64, "q.psn");
  expect_error("infer hmm" + ic, 64, "x_0__Categorical(len_probs:3)__1");  // the first that differs
  expect_error("infer gaussian --engine ic -n 100", 64, "--network");
  expect_error("infer gaussian --network q.psn -n 100", 64, "--engine ic");
  expect_error("infer gaussian --engine ic --network s.psn -n 100", 64, "surrogate");
  expect_error("infer gaussian --engine ic --network nothing.psn -n 100", 65, "nothing.psn");
  expect_error("infer gaussian --defensive 0.1 -n 100", 64, "--defensive");
  expect_error("infer gaussian --correct 10 -n 100", 64, "--correct");
  expect_error("infer s.psn --correct 10 -n 100", 64, "--simulator");
  expect_error("infer q.psn -n 100", 64, "inference network");
  expect_error("infer gaussian --observe obs0=[1,2]" + ic, 64, "obs0");
  // A surrogate has no data of its own, so what is not given is missing.
  expect_error("infer s.psn --observe obs0=1" + ic, 64, "'obs1'");
  expect_error(
      "train inference gaussian --out x.psn --traces 100 --observe_embedding nobody.num_layers=1",
      64, "nobody");
}

// What the file has of the model is all that its draws need: they are those in the model.
TEST_F(InferenceCommands, ANetworkAnswersAloneWhereItsProgramHasNoBranches) {
  const std::string options = std::string(" -n 2000 --query mu --seed 2") + kData;
  const auto alone = json("infer q.psn" + options);
  EXPECT_EQ(alone["engine"], "network");
  EXPECT_EQ(alone["approximate"], true);
  EXPECT_EQ(alone["posterior"],
            json("infer gaussian --engine network --network q.psn" + options)["posterior"]);
  EXPECT_EQ(json("infer q.psn --engine network --out alone" + options)["posterior"],
            alone["posterior"]);
  expect_error("infer q.psn --engine ic" + options, 64, "alone has an answer of its own only");
  expect_error("infer q.psn --engine ic --network q.psn" + options, 64, "alone has an answer");
  expect_error("infer q.psn --observe obs0=2 -n 100", 64, "'obs1'");
  expect_error("infer q.psn --observe obs=2 -n 100", 64, "did you mean 'obs0'?");
  expect_error("infer q.psn --network s.psn" + options, 64, "s.psn");
  json("train inference branching --out b.psn --traces 2000 --lstm_dim 16 --seed 1");
  expect_error("infer b.psn --observe obs=6 -n 100", 64,
               "not all runs come to 'extra__Poisson__1'");
  json("train inference hmm --out h.psn --traces 2000 --lstm_dim 16 --seed 1");
  expect_error("infer h.psn --observe obs=[1,2] -n 100", 64,
               "the distribution of 'x_1__Categorical(len_probs:3)__1' is not the same");
  json("train inference gaussian --out n.psn --traces 500 --lstm_dim 16 --validation 0");
  expect_error("infer n.psn -n 100" + std::string(kData), 64, "the file does not tell");
}

TEST_F(InferenceCommands, TheFirstExperimentInMiniature) {
  const auto result = json("experiment control-flow --quick --traces 4000 --out results --seed 3");
  for (const char* name : {"exact", "lmh", "ic_simulator", "ic_surrogate"}) {
    for (const char* key : {"mean", "sd", "q05", "q25", "q50", "q75", "q95", "ess"}) {
      EXPECT_TRUE(result["posterior"][name].contains(key)) << name << " " << key;
    }
  }
  for (const char* name : {"simulator", "surrogate", "ic_simulator", "ic_surrogate", "lmh"}) {
    EXPECT_GT(result["traces_per_second"][name].get<double>(), 0) << name;
  }
  EXPECT_GT(result["kl_nats_per_trace"].get<double>(), 0);
  // IC in the simulator is right however short the training was.
  const auto& ic = result["posterior"]["ic_simulator"];
  EXPECT_NEAR(ic["mean"].get<double>(), 0.4447, 4.9 * 0.1504 / std::sqrt(ic["ess"].get<double>()));
  for (const char* name : {"results.json", "posterior_exact.csv", "posterior_ic_surrogate.csv",
                           "transitions.csv", "learning_inference.csv", "surrogate.psn"}) {
    EXPECT_TRUE(std::filesystem::exists(folder_ / "results" / name)) << name;
  }
}

// With another core its networks are others; what was kept of the paper's is not taken for them.
TEST_F(InferenceCommands, TheFirstExperimentWithAnotherCore) {
  const std::string experiment = "experiment control-flow --quick --traces 1000 --core-dim 8 ";
  json(experiment + "--out results");
  const double lstm = json("inspect results/surrogate.psn")["parameters"].get<double>();
  json(experiment + "--core gru --out results");
  for (const char* name : {"surrogate", "inference"}) {
    const auto config = json(std::string("inspect results/") + name + ".psn")["config"];
    EXPECT_EQ(config["core"], "gru") << name;
    EXPECT_EQ(config["core_dim"], 8) << name;
  }
  EXPECT_LT(json("inspect results/surrogate.psn")["parameters"].get<double>(), lstm);
  expect_error("experiment control-flow --core rnn --out r", 64, "rnn");
}

}  // namespace
}  // namespace psn
