// Lists of random length from the command line: shared layers by default, and answers without a
// simulator for whatever length there is.
#include <gtest/gtest.h>

#include "tests/cli/command_test.h"

namespace psn {
namespace {

using ListCommands = test::CommandTest;

const std::string kListModel = PSN_PLUGIN_DIR "/liblist_model.so";
const std::string kSmallNetwork = " --traces 20000 --lstm_dim 32 --batch_size 64 --seed 1 ";

// mu is known to .2, wherever the list has values; how near a network comes is no law.
void expect_list_posterior(const nlohmann::json& result) {
  EXPECT_NEAR(result["posterior"]["mu"]["mean"].get<double>(), 1.2, 0.1);
  EXPECT_NEAR(result["posterior"]["mu"]["sd"].get<double>(), 0.19, 0.1);
}

TEST_F(ListCommands, AnyLengthWillDo) {
  json("train inference " + kListModel + " --out q.psn" + kSmallNetwork);
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
  expect_list_posterior(json("infer q.psn" + options + "x=[" + values + "]"));
  expect_list_posterior(json("infer q.psn" + options + "x=[" + gaps + "]"));
  const std::string model =
      "infer " + kListModel + " --network q.psn" + options + "x=[" + padded + "]";
  expect_list_posterior(json(model + " --engine network"));
  expect_error("infer q.psn -n 100", 64, "'x'");
}

TEST_F(ListCommands, LayersApartOnDemand) {
  json("train inference " + kListModel +
       " --out q.psn --traces 500 --observe-embedding x.indices=apart");
  EXPECT_NE(psn("inspect q.psn").out.find("x_3__Normal"), std::string::npos);
  expect_error("train inference " + kListModel + " --out q.psn --observe-embedding x.indices=some",
               64, "'some' is none of shared, apart");
}

}  // namespace
}  // namespace psn
