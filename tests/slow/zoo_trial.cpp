// A part of psn zoo, with thresholds: two minutes of training on two cores, default options.
#include "experiments/zoo_trial/trial.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "psn/base/error.h"

namespace psn {
namespace {

class Models : public services::Host {
 public:
  std::vector<Model> models() const override {
    std::vector<Model> models;
    for (const zoo::Program& program : zoo::programs()) models.push_back(program.model);
    return models;
  }
};

struct Expected {
  const char* name;
  zoo::Program (*program)();
  double kl_per_choice, ess;
};
void PrintTo(const Expected& expected, std::ostream* out) {
  *out << expected.name;
}

class ZooTrial : public testing::TestWithParam<Expected> {};

// Budgets are of time, so figures vary with the machine: thresholds leave a factor of three.
TEST_P(ZooTrial, IsGoodOrSaysThatItIsNot) {
  const auto folder =
      std::filesystem::path(testing::TempDir()) / ("psn-zoo-trial-" + std::string(GetParam().name));
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  Models host;
  const zoo::Trial trial =
      zoo::run_trial(GetParam().program(), {.budget = 30, .seed = 1, .directory = folder}, host);
  EXPECT_LT(trial.kl_per_choice(), GetParam().kl_per_choice);
  EXPECT_GT(trial.simulator.ess, GetParam().ess);
  EXPECT_FALSE(trial.silent_failure());
  if (trial.c2st_weighted) {
    EXPECT_LT(*trial.c2st_weighted, 0.55);
  }
  std::filesystem::remove_all(folder);
}

const Expected kExpected[] = {{"normals", zoo::normals, 0.01, 0.3},
                              {"grammar", zoo::grammar, 0.005, 0.2},
                              {"tree", zoo::tree, 0.1, 0.01},
                              {"sir", zoo::sir, 0.05, 0.2}};
INSTANTIATE_TEST_SUITE_P(All, ZooTrial, testing::ValuesIn(kExpected),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace psn
