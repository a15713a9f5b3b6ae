// Simulators whose observations are computed, from the command line, in process and remote.
#include <gtest/gtest.h>

#include "tests/cli/command_test.h"

namespace psn {
namespace {

using ComputedObservationCommands = test::CommandTest;

const std::string kModel = PSN_PLUGIN_DIR "/libcomputed_model.so";
const std::string kSmall = " --lstm_dim 32 --batch_size 64 --seed 1 --validation 500 ";

// mu given y = 1 is N(.8, .2); how near a network comes is no law.
void expect_posterior(const nlohmann::json& result) {
  EXPECT_NEAR(result["posterior"]["mu"]["mean"].get<double>(), 0.8, 0.15);
  EXPECT_NEAR(result["posterior"]["mu"]["sd"].get<double>(), 0.45, 0.15);
}

TEST_F(ComputedObservationCommands, FromTrainingToThePosterior) {
  json("data generate " + kModel + " -n 6000 --out store --seed 2");
  json("train inference --data store --out q.psn --traces 30000" + kSmall);
  json("train surrogate " + kModel + " --out s.psn --traces 30000" + kSmall);
  const std::string network = " --network q.psn -n 4000 --query mu --seed 2 --observe y=1 ";

  const auto own = json("infer " + kModel + " --engine network" + network);
  EXPECT_EQ(own["approximate"], true);
  expect_posterior(own);
  // The same simulator in another process.
  expect_posterior(json("infer \"exec:'" PSN_PROGRAM "' serve " + kModel +
                        " --ppx {endpoint}\" --engine network" + network));
  const auto weighted = json("infer s.psn --engine ic" + network);
  expect_posterior(weighted);
  EXPECT_GT(weighted["ess"].get<double>(), 100);
  EXPECT_NE(psn("inspect s.psn").out.find("y__Observe"), std::string::npos);

  for (const std::string engine : {"is", "lmh", "rmh", "ic --network q.psn"}) {
    expect_error("infer " + kModel + " -n 100 --observe y=1 --engine " + engine, 64,
                 "the observation 'y' is computed by the program, not drawn");
  }
  expect_error("infer s.psn -n 100 --observe y=1 --correct 10 --simulator " + kModel, 64,
               "the observation 'y' is computed");
  expect_error("infer " + kModel + " -n 100 --engine network --network q.psn --observe y=[1,2]", 64,
               "observation 'y' has 2 values");
}

}  // namespace
}  // namespace psn
