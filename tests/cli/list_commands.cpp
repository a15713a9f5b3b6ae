// Lists of random length from the command line: shared layers by default, and answers without a
// simulator for whatever length there is.
#include <gtest/gtest.h>

#include "tests/cli/command_test.h"

namespace psn {
namespace {

using ListCommands = testing::CommandTest;

const std::string kModel = PSN_PLUGIN_DIR "/liblist_model.so";
const std::string kSmall = " --traces 20000 --lstm_dim 32 --batch_size 64 --seed 1 ";

// mu is known to .2, wherever the list has values; how near a network comes is no law.
void expect_posterior(const nlohmann::json& result) {
  EXPECT_NEAR(result["posterior"]["mu"]["mean"].get<double>(), 1.2, 0.1);
  EXPECT_NEAR(result["posterior"]["mu"]["sd"].get<double>(), 0.19, 0.1);
}

TEST_F(ListCommands, AnyLengthWillDo) {
  json("train inference " + kModel + " --out q.psn" + kSmall);
  const auto inspected = psn("inspect q.psn").out;
  EXPECT_NE(inspected.find("x__Normal"), std::string::npos);
  EXPECT_EQ(inspected.find("x_3__Normal"), std::string::npos);
  std::string values, gaps;
  for (int i = 0; i < 27; ++i) {
    values += (i ? "," : "") + std::string(i % 2 ? "0.2" : "2.2");
    gaps += (i ? "," : "") + std::string(i % 9 == 8 ? "null" : i % 2 ? "0.2" : "2.2");
  }
  // The model's runs may be longer.
  std::string padded = values;
  for (int i = 27; i < 90; ++i) padded += ",null";
  const std::string options = " -n 4000 --query mu --seed 2 --observe ";
  expect_posterior(json("infer q.psn" + options + "x=[" + values + "]"));
  expect_posterior(json("infer q.psn" + options + "x=[" + gaps + "]"));
  const std::string model = "infer " + kModel + " --network q.psn" + options + "x=[" + padded + "]";
  expect_posterior(json(model + " --engine network"));
  expect_error("infer q.psn -n 100", 64, "'x'");
}

TEST_F(ListCommands, LayersApartOnDemand) {
  json("train inference " + kModel +
       " --out q.psn --traces 500 --observe-embedding x.indices=apart");
  EXPECT_NE(psn("inspect q.psn").out.find("x_3__Normal"), std::string::npos);
  expect_error("train inference " + kModel + " --out q.psn --observe-embedding x.indices=some", 64,
               "'some' is none of shared, apart");
}

}  // namespace
}  // namespace psn
