// Files of every format, as each release wrote them (tests/cli/released/make): they load, mean what
// they meant, and what was unfinished goes on to what it would have become.
#include <gtest/gtest.h>

#include "psn/data/store.h"
#include "psn/nn/network_file.h"
#include "psn/nn/run/evaluate.h"
#include "psn/train/validation.h"
#include "tests/cli/command_test.h"

namespace psn {
namespace {

using namespace test;

const fs::path kReleases = PSN_SOURCE "/tests/cli/released";

std::vector<std::string> releases() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kReleases)) {
    if (entry.is_directory()) names.push_back(entry.path().filename());
  }
  // While one is made, there may be none.
  if (names.empty()) names.emplace_back("none");
  return names;
}

// All numbers of a text, in order.
std::vector<double> numbers_in(const std::string& text) {
  std::vector<double> numbers;
  for (const char* at = text.c_str(); *at != '\0';) {
    char* end = nullptr;
    const double number = std::strtod(at, &end);
    if (end != at) numbers.push_back(number);
    at = end == at ? at + 1 : end;
  }
  return numbers;
}

// Up to sums of single-precision numbers in the order of the machine's vectors.
void expect_same_numbers(const std::string& now, const std::string& then, double tolerance) {
  const std::vector<double> a = numbers_in(now), b = numbers_in(then);
  ASSERT_EQ(a.size(), b.size());
  EXPECT_FALSE(b.empty());
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::isfinite(a[i]) || std::isfinite(b[i])) {
      EXPECT_NEAR(a[i], b[i], tolerance * (1 + std::abs(b[i]))) << "number " << i;
    }
  }
}

class ReleasedFiles : public CommandTest, public ::testing::WithParamInterface<std::string> {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    if (const char* made = std::getenv("PSN_RELEASED")) {
      made_ = made;
      fs::copy(made_, folder_, fs::copy_options::recursive);
    } else {
      fs::copy(kReleases / GetParam(), folder_, fs::copy_options::recursive);
    }
  }

  // The log density of each trace of the store under a surrogate, the loss under an inference
  // network.
  std::string figures(const std::string& file) const {
    const auto network = load_network((folder_ / file).string()).network;
    data::StoreReader store((folder_ / "store").string());
    std::string text;
    for (std::uint64_t i = 0; i < store.size(); ++i) {
      const Trace trace = store.read(i);
      const double figure = network->config().purpose == Purpose::kInference
                                ? validate(*network, {trace}).loss
                                : log_prob(*network, trace, UnknownEvaluation::kZero);
      text += fmt::format("{}\n", figure);
    }
    return text;
  }

  nlohmann::json summary_of(const std::string& folder) const {
    return nlohmann::json::parse(slurp(folder_ / folder / "summary.json"));
  }

  fs::path made_;  // by tests/cli/released/make
};

TEST_P(ReleasedFiles, AStoreHasTheSameTraces) {
  EXPECT_EQ(json("data verify store")["traces"], 48);
  ASSERT_EQ(psn("data export store --out now.csv").code, 0);
  EXPECT_EQ(slurp(folder_ / "now.csv"), slurp(folder_ / "store.csv"));
}

TEST_P(ReleasedFiles, NetworksGiveTheSameFigures) {
  for (const std::string name : {"surrogate", "inference"}) {
    SCOPED_TRACE(name);
    const std::string now = figures(name + ".psn");
    if (!made_.empty())
      std::ofstream(made_ / (name + ".figures")) << now;
    else
      expect_same_numbers(now, slurp(folder_ / (name + ".figures")), 1e-4);
  }
  EXPECT_EQ(psn("simulate surrogate.psn -n 100").code, 0);
  EXPECT_EQ(
      psn("infer surrogate.psn --engine ic --network inference.psn --observe x=5 -n 100").code, 0);
}

TEST_P(ReleasedFiles, AnUnfinishedTrainingGoesOnToTheSameSurrogate) {
  const Outcome resumed =
      psn("train surrogate --config unfinished.toml --out unfinished.psn --resume");
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  expect_same_numbers(figures("unfinished.psn"), slurp(folder_ / "surrogate.figures"), 1e-4);
}

TEST_P(ReleasedFiles, AnUnfinishedInferenceGoesOnToTheSameResult) {
  const Outcome resumed = psn("infer --config other-chains.toml --out other-chains --resume");
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  expect_same_numbers(slurp(folder_ / "other-chains/posterior.csv"),
                      slurp(folder_ / "chains/posterior.csv"), 1e-9);
}

TEST_P(ReleasedFiles, AnUnfinishedCalibrationGoesOnToTheSameVerdict) {
  const Outcome resumed =
      psn("calibrate --config other-calibration.toml --out other-calibration --resume");
  EXPECT_LE(resumed.code, 1) << resumed.err;
  const nlohmann::json now = summary_of("other-calibration"), then = summary_of("calibration");
  EXPECT_EQ(now["passed"], then["passed"]);
  expect_same_numbers(now.at("ess").dump(), then.at("ess").dump(), 1e-3);
}

TEST_P(ReleasedFiles, ResultsAreRead) {
  for (const std::string name : {"importance", "chains"}) {
    SCOPED_TRACE(name);
    const nlohmann::json then = summary_of(name).at("posterior");
    const nlohmann::json now = json("summary " + name)["results"][0]["variables"];
    ASSERT_EQ(now.size(), then.size());
    for (const auto& [variable, figures] : then.items()) {
      EXPECT_NEAR(now[variable]["mean"].get<double>(), figures["mean"].get<double>(), 1e-9);
    }
    EXPECT_EQ(psn("export " + name + " --format npz --out now.npz").code, 0);
  }
  EXPECT_EQ(psn("predict importance -n 20").code, 0);
  EXPECT_EQ(psn("report importance chains calibration log surrogate.psn --out r.html").code, 0);
  EXPECT_EQ(json("watch log --once")[0]["phase"], "finished");
}

INSTANTIATE_TEST_SUITE_P(Each, ReleasedFiles, ::testing::ValuesIn(releases()),
                         [](const auto& release) {
                           std::string name = release.param;
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

}  // namespace
}  // namespace psn
