// Inferences that stop when they are precise enough, or when their runs are spent.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/cli/command_test.h"

namespace psn {
namespace {

using namespace test;

class StoppingCommands : public CommandTest {
 protected:
  static constexpr const char* kGaussian = "infer gaussian --observe obs0=8 --observe obs1=9 ";

  nlohmann::json gaussian(const std::string& arguments) const {
    return json(kGaussian + arguments);
  }
};

TEST_F(StoppingCommands, StopAtAPrecision) {
  for (const std::string engine : {"is", "lmh", "rmh"}) {
    const auto result = gaussian("-n 2000 --until 'mcse(mu) < 0.02' --engine " + engine);
    const auto& stopped = result["stopped"];
    EXPECT_EQ(stopped["reason"], "precision") << engine;
    EXPECT_EQ(stopped["looked_every"], 2000);
    EXPECT_EQ(stopped["conditions"][0]["condition"], "mcse(mu) < 0.02");
    EXPECT_LE(stopped["conditions"][0]["figure"].get<double>(), 0.02);
    // Not too far beyond it, nor one look too early: errors fall with the root of the samples.
    EXPECT_GT(stopped["conditions"][0]["figure"].get<double>(), 0.01) << engine;
    EXPECT_GT(result["samples"].get<int>(), 2000);
    // The posterior is normal with mean 7.25 and variance 5 / 6; five of the standard errors.
    EXPECT_NEAR(result["posterior"]["mu"]["mean"].get<double>(), 43.5 / 6, 0.1) << engine;
  }
  const auto both = gaussian("-n 4000 --engine rmh --until ess=1000 --until 'rhat < 1.01'");
  for (const auto& condition : both["stopped"]["conditions"]) EXPECT_EQ(condition["holds"], true);
  EXPECT_GE(both["ess"].get<double>(), 1000);
  EXPECT_LE(both["rhat"].get<double>(), 1.01);
}

TEST_F(StoppingCommands, SpendNoMoreRunsThanTheyMay) {
  for (const std::string engine : {"is", "lmh", "rmh"}) {
    const auto result = gaussian("--max-runs 1503 --until ess=1e6 --engine " + engine);
    EXPECT_EQ(result["stopped"]["reason"], "runs");
    EXPECT_EQ(result["stopped"]["conditions"][0]["holds"], false);
    EXPECT_LE(result["simulator_runs"].get<int>(), 1503);
    EXPECT_GE(result["simulator_runs"].get<int>(), 1500);
    EXPECT_NE(result["warnings"].dump().find("the runs (--max-runs) were spent"),
              std::string::npos);
  }
  const auto fewer = gaussian("--max-runs 1503 -n 500");
  EXPECT_EQ(fewer["stopped"]["reason"], "samples");
  EXPECT_EQ(fewer["simulator_runs"], 500);
  expect_error(std::string(kGaussian) + "--engine lmh --chains 10 --max-runs 10", 64,
               "--max-runs 10 is too few for 10 --chains");
}

TEST_F(StoppingCommands, GoOnToTheResultOfOneRun) {
  for (const std::string engine : {"is", "rmh"}) {
    const std::string infer = std::string(kGaussian) + "--quiet -n 4000 --until 'mcse(mu) < " +
                              (engine == "is" ? "0.015" : "0.003") + "' --engine " + engine;
    const std::string whole = "whole_" + engine, part = "part_" + engine;
    ASSERT_EQ(psn(infer + " --out " + whole).code, 0);
    int kept = 0, milliseconds = 150;
    for (int attempt = 0; attempt < 20; ++attempt) {
      const int code = stopped(infer + " --resume --out " + part, SIGINT, [&] {
        wait_until([&] { return fs::exists(folder_ / (part + ".lock")); });
        wait(milliseconds);
      });
      if (code == 130) {
        kept += fs::exists(folder_ / (part + ".unfinished"));
        milliseconds *= 2;
      } else if (kept == 0) {
        fs::remove_all(folder_ / part);
        milliseconds /= 2;
      } else {
        break;
      }
    }
    EXPECT_GT(kept, 0);
    for (const std::string file : {"posterior.safetensors", "draws.safetensors"}) {
      EXPECT_TRUE(slurp(folder_ / part / file) == slurp(folder_ / whole / file)) << engine << file;
    }
  }
}

TEST_F(StoppingCommands, SayWhatConditionsAre) {
  const std::string infer = std::string(kGaussian) + "--until ";
  expect_error(infer + "'ess(muu) > 10'", 64, "'muu' is not among what is reported (--query); did");
  expect_error(infer + "often", 64, "a condition is ess=1000");
  expect_error(infer + "'mcse < 1'", 64, "of what? mcse(NAME)");
  expect_error(infer + "'mcse(mu) > 1'", 64, "it takes < NUMBER");
  expect_error(infer + "'ess < 10'", 64, "it takes ess > NUMBER");
  expect_error(infer + "'ess > -1'", 64, "'-1' is no number above 0");
  expect_error(infer + "'rhat < 1.1'", 64, "--until rhat is for Markov chains");
}

}  // namespace
}  // namespace psn
