// What is made of results: summaries, diagnoses, exports.
#include <gtest/gtest.h>

#include <cmath>
#include <regex>
#include <sstream>

#include "tests/cli/command_test.h"

namespace psn {
namespace {

using nlohmann::json;
using test::slurp;

class ResultCommands : public test::CommandTest {
 protected:
  // The posterior of mu is N(2.25, 5/6).
  void infer(const std::string& folder, const std::string& more = "") const {
    ASSERT_EQ(psn("infer gaussian -n 20000 --observe obs0=2 --observe obs1=3 --quiet --out " +
                  folder + " " + more)
                  .code,
              0);
  }
};

TEST_F(ResultCommands, SummaryOfWeightedSamples) {
  infer("a", "--query mu,result");
  const auto summary = json("summary a");
  const auto& result = summary["results"][0];
  EXPECT_EQ(result["model"], "gaussian");
  EXPECT_EQ(result["engine"], "is");
  EXPECT_EQ(result["samples"], 20000);
  EXPECT_FALSE(result.contains("chains"));
  const auto& mu = result["variables"]["mu"];
  EXPECT_EQ(mu, result["variables"]["result"]);
  const double mcse = mu["mcse"], sd = std::sqrt(5.0 / 6);
  EXPECT_NEAR(mu["mean"].get<double>(), 2.25, 4.9 * mcse);
  EXPECT_NEAR(mu["sd"].get<double>(), sd, 0.05);
  EXPECT_NEAR(mu["ess"].get<double>(), std::pow(mu["sd"].get<double>() / mcse, 2), 1e-6);
  EXPECT_EQ(mu["quantiles"].size(), 3u);
  EXPECT_NEAR(mu["quantiles"][1].get<double>(), 2.25, 0.1);
  EXPECT_FALSE(mu.contains("rhat"));
}

TEST_F(ResultCommands, SummaryTakesQuantilesAndMass) {
  infer("a", "--query mu,result");
  const auto summary = json("summary a --quantiles 0.1,0.9 --hdi 0.5 --query mu");
  EXPECT_EQ(summary["quantiles"], json::array({0.1, 0.9}));
  EXPECT_EQ(summary["hdi_mass"], 0.5);
  const auto& variables = summary["results"][0]["variables"];
  EXPECT_EQ(variables.size(), 1u);
  // Of a normal: 1.28 and 0.67 deviations to either side.
  const auto& mu = variables["mu"];
  const double sd = std::sqrt(5.0 / 6);
  EXPECT_NEAR(mu["quantiles"][1].get<double>() - mu["quantiles"][0].get<double>(), 2 * 1.2816 * sd,
              0.2);
  EXPECT_NEAR(mu["hdi"][1].get<double>() - mu["hdi"][0].get<double>(), 2 * 0.6745 * sd, 0.2);
  const std::string text = psn("summary a --quantiles 0.1,0.9 --hdi 0.5").out;
  for (const char* part : {"mcse", "10%", "90%", "50% HDI", "mu"}) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }
}

TEST_F(ResultCommands, SummariesStandSideBySide) {
  infer("a");
  infer("b", "--engine rmh --seed 2");
  infer("c", "--given mu=3");
  const auto results = json("summary a b c")["results"];
  ASSERT_EQ(results.size(), 3u);
  EXPECT_EQ(results[1]["chains"], 4);
  const auto& mu = results[1]["variables"]["mu"];
  EXPECT_LT(std::abs(mu["apart"].get<double>()), 4.9);
  EXPECT_NEAR(mu["rhat"].get<double>(), 1, 0.05);
  EXPECT_FALSE(results[0]["variables"]["mu"].contains("apart"));
  const auto table = psn("summary a b c").out;
  for (const char* part : {"apart", "r-hat", " a ", " b ", "no accident"}) {
    EXPECT_NE(table.find(part), std::string::npos) << table;
  }
}

TEST_F(ResultCommands, SummariesOfPredictionsAndPriors) {
  infer("a");
  ASSERT_EQ(psn("predict a -n 2000 --quiet --out p").code, 0);
  ASSERT_EQ(psn("simulate gaussian -n 2000 --quiet --out s").code, 0);
  EXPECT_EQ(json("summary p")["results"][0]["variables"].size(), 2u);
  const auto mu = json("summary s")["results"][0]["variables"]["mu"];
  EXPECT_NEAR(mu["mcse"].get<double>(), mu["sd"].get<double>() / std::sqrt(2000), 1e-9);
}

TEST_F(ResultCommands, SummaryRefusesWhatIsNone) {
  infer("a");
  std::filesystem::create_directories(folder_ / "empty");
  expect_error("summary nowhere", 65, "no folder 'nowhere'");
  expect_error("summary empty", 65, "'empty' has no samples");
  expect_error("summary a --query nu", 64, "--query: no result has 'nu'; did you mean 'mu'?");
  expect_error("summary a --hdi 2", 64, "--hdi");
  expect_error("summary a --quantiles 0.5,7", 64, "--quantiles");
  std::ofstream(folder_ / "a" / "summary.json") << "nonsense";
  expect_error("summary a", 65, "summary.json' is not JSON");
}

TEST_F(ResultCommands, DiagnosesAreClean) {
  infer("a");
  const auto outcome = psn("diagnose a");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out, "a: inference, nothing to warn of\n");
  EXPECT_EQ(json("diagnose a")["clean"], true);
}

TEST_F(ResultCommands, DiagnosesHaveReasonAndRemedy) {
  ASSERT_EQ(psn("infer gaussian -n 40 --engine lmh --quiet --out few").code, 0);
  const auto outcome = psn("diagnose few --json");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.err, "");
  const auto diagnosis = json::parse(outcome.out)["results"][0];
  EXPECT_EQ(diagnosis["kind"], "inference");
  // What infer itself warned of, and that it was asked nothing.
  const auto warnings = json::parse(slurp(folder_ / "few" / "summary.json"))["warnings"];
  ASSERT_GE(diagnosis["findings"].size(), warnings.size());
  for (const auto& finding : diagnosis["findings"]) {
    EXPECT_NE(finding["reason"], "") << finding;
    EXPECT_NE(finding["remedy"].get<std::string>().find("-"), std::string::npos) << finding;
  }
  EXPECT_EQ(diagnosis["findings"][0]["warning"], warnings[0]);
  const auto text = psn("diagnose few");
  EXPECT_EQ(text.code, 1);
  for (const char* part : {"to warn of", "  why: ", "  do:  "}) {
    EXPECT_NE(text.out.find(part), std::string::npos) << text.out;
  }
}

TEST_F(ResultCommands, DiagnosesOfAnyFolder) {
  const auto finding = [&](const std::string& summary) {
    std::filesystem::create_directories(folder_ / "any");
    std::ofstream(folder_ / "any" / "summary.json") << summary;
    const auto outcome = psn("diagnose any --json");
    EXPECT_EQ(outcome.code, 1) << summary;
    const auto findings = json::parse(outcome.out)["results"][0]["findings"];
    EXPECT_EQ(findings.size(), 1u) << summary;
    return findings[0]["warning"].get<std::string>();
  };
  EXPECT_EQ(finding(R"({"kind": "validation", "passed": false, "reasons": ["theta is off"]})"),
            "theta is off");
  EXPECT_EQ(finding(R"({"kind": "calibration", "passed": false, "reasons": []})"),
            "calibration did not pass");
  EXPECT_NE(finding(R"({"failed_runs": {"count": 3, "causes": {}, "last": "at x"}})").find("at x"),
            std::string::npos);
  EXPECT_NE(finding(R"({"posterior": {}, "observations": {"y": {"unused_share": 0.25}}})")
                .find("25 % of the weight never came to the observation 'y'"),
            std::string::npos);
  EXPECT_NE(finding(R"({"correction": {"runs": 10, "diverged": 9}})").find("9 of the 10"),
            std::string::npos);
  EXPECT_EQ(finding(R"({"finished": false})"), "the training is not finished");
  EXPECT_EQ(finding(R"({"warnings": ["something new: because; do this"]})"),
            "something new: because; do this");

  std::ofstream(folder_ / "any" / "summary.json") << R"({"warnings": 3})";
  expect_error("diagnose any", 65, "any/summary.json");
  std::filesystem::remove(folder_ / "any" / "summary.json");
  expect_error("diagnose any", 65, "'any' has no summary.json");
  expect_error("diagnose nowhere", 65, "no 'nowhere'");
}

TEST_F(ResultCommands, DiagnosesOfTrainings) {
  const std::string train =
      "train surrogate control-flow --lstm_dim 8 --batch_size 64 --validation 50 --quiet ";
  ASSERT_EQ(psn(train + "--traces 128 --out s.psn --log log").code, 0);
  for (const std::string result : {"s.psn", "log"}) {
    const auto outcome = psn("diagnose --json " + result);
    EXPECT_EQ(outcome.code, 1);
    const auto diagnosis = json::parse(outcome.out)["results"][0];
    EXPECT_EQ(diagnosis["kind"], "training");
    ASSERT_EQ(diagnosis["findings"].size(), 1u);
    EXPECT_NE(diagnosis["findings"][0]["warning"].get<std::string>().find("nats per trace"),
              std::string::npos);
  }
}

TEST_F(ResultCommands, WatchesTrainingsToTheirEnd) {
  const std::string train =
      "train surrogate control-flow --lstm_dim 8 --batch_size 16 --validation 50 --quiet ";
  ASSERT_EQ(psn(train + "--traces 1600 --out s.psn --log logs/s").code, 0);
  ASSERT_EQ(psn("train inference control-flow --batch_size 16 --validation 50 --quiet --traces 320 "
                "--out q.psn --log logs/q")
                .code,
            0);
  const auto outcome = psn("watch logs");  // all have ended, so it does too
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  for (const char* part :
       {"logs/q", "logs/s", "1600 of 1600", "finished", "traces/s", "held out"}) {
    EXPECT_NE(outcome.out.find(part), std::string::npos) << outcome.out;
  }
  const auto courses = json("watch logs/s logs/q --once");
  ASSERT_EQ(courses.size(), 2u);
  EXPECT_EQ(courses[0]["phase"], "finished");
  EXPECT_EQ(courses[0]["total"], 1600);
  EXPECT_GT(courses[0]["transitions"], 3);
  EXPECT_GT(courses[0]["held_out"], 0);
  EXPECT_FALSE(courses[1].contains("kl"));
  expect_error("watch .", 65, "'.' has no log");
}

TEST_F(ResultCommands, WatchTellsTheRunningFromTheKilled) {
  const std::string train =
      "train surrogate control-flow --lstm_dim 8 --batch_size 16 --validation 0 --quiet ";
  const auto rows = [&] {
    const std::string text = slurp(folder_ / "log" / "progress.csv");
    return std::count(text.begin(), text.end(), '\n');
  };
  nlohmann::json running;
  const int code = stopped(train + "--traces 100000000 --out s.psn --log log", SIGKILL, [&] {
    wait_until([&] { return rows() >= 3; });
    running = json("watch log --once")[0];
  });
  EXPECT_EQ(code, -1);
  EXPECT_EQ(running["phase"], "running");
  EXPECT_EQ(running["total"], 100000000);
  EXPECT_GT(running["seconds_left"], 1);
  const auto killed = json("watch log --once")[0];
  EXPECT_EQ(killed["phase"], "broken off");
  EXPECT_FALSE(killed.contains("seconds_left"));
  EXPECT_EQ(psn("watch log").code, 0);
}

TEST_F(ResultCommands, NetcdfHasTheGroupsOfArviz) {
  infer("a", "--engine rmh --query mu,result");
  ASSERT_EQ(psn("predict a -n 400 --quiet --out p").code, 0);
  ASSERT_EQ(psn("simulate gaussian -n 300 --quiet --out s").code, 0);
  ASSERT_EQ(psn("export a --format netcdf --predictive p --prior s --out a.nc").code, 0);
  std::ofstream(folder_ / "look.py") << R"(
import json, netCDF4
file = netCDF4.Dataset("a.nc")
groups = {n: {v: list(x.shape) for v, x in g.variables.items()} for n, g in file.groups.items()}
print(json.dumps({"groups": groups, "obs0": float(file["observed_data"]["obs0"][...]),
                  "draw": file["posterior"]["draw"][:3].tolist(), "by": file.inference_library,
                  "engine": file["posterior"].engine})))";
  const std::string look = "cd '" + folder_.string() + "' && '" PSN_PYTHON "' look.py >said 2>&1";
  ASSERT_EQ(std::system(look.c_str()), 0) << slurp(folder_ / "said");
  const auto seen = nlohmann::json::parse(slurp(folder_ / "said"));
  using nlohmann::json;
  EXPECT_EQ(seen["by"], "psn");
  EXPECT_EQ(seen["engine"], "rmh");
  EXPECT_EQ(seen["obs0"], 2);
  EXPECT_EQ(seen["draw"], json::array({0, 1, 2}));
  const auto& groups = seen["groups"];
  EXPECT_EQ(groups["posterior"]["mu"], json::array({4, 5000}));
  EXPECT_EQ(groups["sample_stats"]["log_weight"], json::array({4, 5000}));
  EXPECT_EQ(groups["posterior_predictive"]["obs1"], json::array({1, 400}));
  EXPECT_EQ(groups["prior"]["mu"], json::array({1, 300}));
  EXPECT_FALSE(groups["prior"].contains("obs0"));
  EXPECT_EQ(groups["prior_predictive"]["obs0"], json::array({1, 300}));
}

TEST_F(ResultCommands, ExportRefusesWhatDoesNotGoTogether) {
  infer("a");
  expect_error("export a --format npz --prior a --out x.npz", 64, "--prior");
  expect_error("export a --format netcdf --out nowhere/x.nc", 65, "nowhere/x.nc");
  expect_error("export a --format matlab --out x", 64, "--format");
  expect_error("export nowhere --format csv --out x", 65, "nowhere");
  EXPECT_EQ(json("export a --format csv --resample 70 --out x.csv")["samples"], 70);
}

}  // namespace
}  // namespace psn
