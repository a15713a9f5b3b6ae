// Broken things are found, sound ones pass. How often sound ones fail: tests/slow/false_alarms.cpp.
#include <algorithm>

#include "tests/law/verdict_fixture.h"

namespace psn {
namespace {

using test::VerdictTest;

// Has a test of this sort failed, at this site if one is named?
bool failed(const evidence::Verdict& verdict, const std::string& test,
            const std::string& what = "") {
  return std::any_of(verdict.tests.begin(), verdict.tests.end(), [&](const evidence::Test& one) {
    return one.failed && one.test == test && one.what.starts_with(what);
  });
}

std::string text(const evidence::Verdict& verdict) {
  std::string all;
  for (const std::string& reason : verdict.reasons) all += reason + "\n";
  return all;
}

NodeId node_of(const Network& network, const std::string& start) {
  for (NodeId id = 2; id < network.size(); ++id) {
    if (network.node(id).text.starts_with(start)) return id;
  }
  ADD_FAILURE() << start;
  return 0;
}

class SurrogateVerdict : public VerdictTest {};

TEST_F(SurrogateVerdict, SoundOnePassesAndBrokenOnesDoNot) {
  const auto sound = surrogate(30'000);
  const auto good = validated(sound);
  EXPECT_TRUE(good.verdict.passed) << text(good.verdict);
  EXPECT_TRUE(good.classifier && good.simulator_speed && good.surrogate_speed);

  const auto blind = std::make_shared<Network>(*sound);  // to what theta is
  const Node& theta = blind->node(node_of(*blind, "theta"));
  for (const BlockId id : {theta.embedding, theta.recall}) {
    const Block& block = blind->parameters().block(id);
    std::fill_n(blind->parameters().values(id), block.rows * block.columns, 0.0f);
  }
  const auto unseeing = validated(blind);
  EXPECT_FALSE(unseeing.verdict.passed);
  EXPECT_TRUE(failed(unseeing.verdict, "kl") || failed(unseeing.verdict, "classifier"))
      << text(unseeing.verdict);

  const auto swapped = std::make_shared<Network>(*sound);  // z_1 and z_2 after bern_0
  const BlockId transition = swapped->node(node_of(*swapped, "bern_0")).transition;
  const std::uint32_t columns = swapped->parameters().block(transition).columns;
  float* rows = swapped->parameters().values(transition);
  std::swap_ranges(rows + columns, rows + 2 * columns, rows + 2 * columns);
  const auto astray = validated(swapped);
  EXPECT_FALSE(astray.verdict.passed);
  EXPECT_TRUE(failed(astray.verdict, "transitions", "bern_0")) << text(astray.verdict);
  EXPECT_TRUE(astray.transitions.front().from.starts_with("bern_0"));
}

TEST_F(SurrogateVerdict, UnderTrainedOneFails) {
  const auto young = validated(surrogate(200));
  EXPECT_FALSE(young.verdict.passed);
  EXPECT_TRUE(failed(young.verdict, "kl") || failed(young.verdict, "pit")) << text(young.verdict);
}

class NetworkVerdict : public VerdictTest {};

TEST_F(NetworkVerdict, SoundOnePasses) {
  const auto network = inference_network(test::measurements(), 6000);
  const auto found = calibrated(network, services::Engine::kCompiled);
  EXPECT_TRUE(found.verdict.passed) << text(found.verdict);
  ASSERT_EQ(found.latents.size(), 1u);
  EXPECT_EQ(found.latents[0].name, "mu");
  EXPECT_TRUE(found.tarp.has_value());
  EXPECT_EQ(found.ess.size(), 200u);
  // 1 - (1 / (1/4 + 6)) / 4 is exact.
  std::vector<double> contraction = found.latents[0].contraction;
  std::nth_element(contraction.begin(), contraction.begin() + 100, contraction.end());
  EXPECT_NEAR(contraction[100], 0.96, 0.015);
}

// Networks that were trained for other programs: with less noise, with more, with an offset.
TEST_F(NetworkVerdict, BrokenOnesFail) {
  struct Broken {
    const char* name;
    double noise, shift;
    const char* test;
  };
  for (const Broken& broken :
       {Broken{"overconfident", 0.5, 0, "coverage"}, Broken{"too wide", 2, 0, "coverage"},
        Broken{"shifted", 1, 1, "ranks"}}) {
    const auto network = inference_network(test::measurements(broken.noise, broken.shift), 6000);
    const auto found = calibrated(network, services::Engine::kNetwork);
    EXPECT_FALSE(found.verdict.passed) << broken.name;
    EXPECT_TRUE(failed(found.verdict, broken.test, "mu")) << broken.name << text(found.verdict);
    EXPECT_TRUE(found.ess.empty());
  }
  // Weights mend a proposal that is too wide, but not one that is somewhere else.
  const auto far = inference_network(test::measurements(0.3, 2), 6000);
  const auto found = calibrated(far, services::Engine::kCompiled);
  EXPECT_TRUE(failed(found.verdict, "weights")) << text(found.verdict);
}

class DataVerdict : public VerdictTest {};

TEST_F(DataVerdict, DataOfTheModelPass) {
  const auto found = criticised(data_of(1, 1));
  EXPECT_TRUE(found.verdict.passed) << text(found.verdict);
  EXPECT_EQ(found.sites.size(), 6u);
  EXPECT_EQ(found.observations.size(), 1u);
  for (const auto& site : found.sites) EXPECT_FALSE(site.blamed);
}

// One measurement came by another branch of another program.
TEST_F(DataVerdict, AnExtraBranchIsBlamedWhereItIs) {
  std::vector<double> data = data_of(1, 2);
  data[3] += 8;
  const auto found = criticised(data);
  EXPECT_FALSE(found.verdict.passed);
  EXPECT_EQ(found.sites.front().address.substr(0, 3), "y_3");
  EXPECT_TRUE(found.sites.front().blamed);
  EXPECT_NE(text(found.verdict).find("'y_3"), std::string::npos) << text(found.verdict);
}

TEST_F(DataVerdict, WrongNoiseIsBlamedOnAllOfThem) {
  const auto found = criticised(data_of(4, 3));
  EXPECT_FALSE(found.verdict.passed);
  EXPECT_EQ(found.observations.front().name, "y");
  EXPECT_TRUE(found.observations.front().blamed) << text(found.verdict);
}

// What was not measured is no site, and data sets of the model have the same gaps.
TEST_F(DataVerdict, GapsAreNoSites) {
  std::vector<double> data = data_of(1, 4);
  data[2] = kNaN;
  const auto found = criticised(data);
  EXPECT_TRUE(found.verdict.passed) << text(found.verdict);
  EXPECT_EQ(found.sites.size(), 5u);
}

}  // namespace
}  // namespace psn
