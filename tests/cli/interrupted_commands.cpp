// Commands that are interrupted, hang or are killed: what is kept, what goes on, what is said
// meanwhile.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <pty.h>

#include <random>
#include <set>

#include "tests/cli/command_test.h"

namespace psn {
namespace {

using namespace test;

class InterruptedCommands : public CommandTest {
 protected:
  static std::string plugin(const std::string& name) {
    return "'" PSN_PLUGIN_DIR "/lib" + name + ".so'";
  }

  std::set<std::string> files() const {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      const std::string name = entry.path().filename().string();
      if (!std::set<std::string>{"out", "err", "stdout", "stderr"}.contains(name)) {
        names.insert(name);
      }
    }
    return names;
  }

  nlohmann::json summary(const std::string& folder) const {
    auto json = nlohmann::json::parse(slurp(folder_ / folder / "summary.json"));
    json.erase("traces_per_second");
    json.erase("simulator_runs");  // those that an interruption loses count
    return json;
  }

  // Is interrupted by each signal, and resumed to the result of one run. Six attempts at the most:
  // one that comes too late or too early is made again.
  void expect_same_result(const std::string& name, const std::string& arguments) {
    SCOPED_TRACE(arguments);
    const std::string infer = "infer control-flow --observe x=5 --query theta --quiet " + arguments;
    EXPECT_EQ(psn(infer + " --out whole_" + name).code, 0);
    const std::string resume = infer + " --resume --out " + name;
    int kept = 0, milliseconds = 300;
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGINT, SIGTERM, SIGHUP}) {
      const int code = stopped(resume, signal, [&] {
        wait_until([&] { return fs::exists(folder_ / (name + ".lock")); });
        wait(milliseconds);
      });
      if (code == 0) {  // it was done before: once more
        fs::remove_all(folder_ / name);
        milliseconds /= 2;
        continue;
      }
      EXPECT_EQ(code, 130);
      EXPECT_FALSE(fs::exists(folder_ / name));
      if (!fs::exists(folder_ / (name + ".unfinished"))) {  // it had hardly begun
        milliseconds *= 2;
        continue;
      }
      if (++kept == 3) break;
      if (kept > 1) continue;
      expect_error(infer + " --out " + name, 64, name + ".unfinished' is an inference that did");
      expect_error(resume + " --seed 9", 64, "another --seed: 0, now 9");
    }
    EXPECT_GT(kept, 0);
    const Outcome last = psn(resume);
    EXPECT_EQ(last.code, 0) << last.err;
    for (const auto& entry : fs::directory_iterator(folder_ / ("whole_" + name))) {
      const std::string file = entry.path().filename().string();
      // These say how fast it was, and where.
      if (std::set<std::string>{"config.toml", "summary.json", "report.html"}.contains(file)) {
        continue;
      }
      EXPECT_TRUE(slurp(folder_ / name / file) == slurp(entry.path())) << file;
    }
    nlohmann::json ours = summary(name), whole = summary("whole_" + name);
    // What was under way when the signal came is run again, and counts.
    EXPECT_GE(ours["simulator_runs"], whole["simulator_runs"]);
    ours.erase("simulator_runs");
    whole.erase("simulator_runs");
    EXPECT_EQ(ours, whole);
    expect_error(resume, 64, "'" + name + "' is finished");
    EXPECT_FALSE(files().contains(name + ".unfinished"));
    EXPECT_FALSE(files().contains(name + ".lock"));
  }
};

TEST_F(InterruptedCommands, ImportanceSamplingGoesOn) {
  expect_same_result("is", "-n 1500000");
}

TEST_F(InterruptedCommands, MarkovChainsGoOn) {
  expect_same_result("lmh", "--engine lmh -n 400000 --chains 3 --thin 2");
  expect_same_result("rmh", "--engine rmh -n 400000 --chains 3 --burn-in 150000");
}

TEST_F(InterruptedCommands, InferenceCompilationGoesOn) {
  json("train inference control-flow --traces 640 --batch_size 64 --lstm_dim 8 --out q.psn");
  expect_same_result("ic", "--engine ic --network q.psn --defensive 0.1 -n 200000");
}

TEST_F(InterruptedCommands, ResultsOfSomethingElseAreNotWrittenOver) {
  const std::string infer = "infer gaussian -n 1000 --quiet --out r ";
  ASSERT_EQ(psn(infer + "--observe obs0=3").code, 0);
  const std::string before = slurp(folder_ / "r/summary.json");
  expect_error(infer + "--observe obs0=4", 64,
               "'r' has results of other observations ('obs0' was 3.0, now 4.0)");
  expect_error(infer, 64, "'obs0' was 3.0, now not observed");
  expect_error("infer control-flow -n 1000 --quiet --out r --observe x=3", 64,
               "'r' has results of --model");
  EXPECT_EQ(slurp(folder_ / "r/summary.json"), before);
  // The same question again, with a file that is not ours beside the results.
  std::ofstream(folder_ / "r/notes.txt") << "mine";
  ASSERT_EQ(psn(infer + "--observe obs0=3 --seed 2").code, 0);
  EXPECT_NE(slurp(folder_ / "r/summary.json"), before);
  EXPECT_EQ(slurp(folder_ / "r/notes.txt"), "mine");
  EXPECT_EQ(files(), std::set<std::string>{"r"});
  expect_error("infer gaussian -n 1000 --observe obs0=3 --resume", 64, "--out");
}

// Whenever it is killed, there are all results or none; what it leaves besides goes with the next.
TEST_F(InterruptedCommands, ResultsAppearAsAWhole) {
  const std::string infer = "infer gaussian --observe obs0=3 -n 20000 --quiet --out r";
  std::mt19937 random(1);
  std::uniform_int_distribution<int> milliseconds(0, 300);
  for (int kills = 0; kills < 20; ++kills) {
    stopped(infer, SIGKILL, [&] { wait(milliseconds(random)); });
    if (!fs::exists(folder_ / "r")) continue;
    for (const std::string file : {"config.toml", "observations.json", "posterior.safetensors",
                                   "posterior.csv", "summary.json"}) {
      EXPECT_TRUE(fs::exists(folder_ / "r" / file)) << file;
    }
    fs::remove_all(folder_ / "r");
  }
  fs::create_directories(folder_ / "r.17.tmp");
  std::ofstream(folder_ / "r.17.tmp" / "posterior.csv") << "half";
  ASSERT_EQ(psn(infer).code, 0);
  EXPECT_EQ(files(), std::set<std::string>{"r"});
}

TEST_F(InterruptedCommands, HungPluginsEndByTimeLimitAndByTheFirstSignal) {
  const std::string hung = "no random choice for 1 s after 'mu__Normal__1'";
  expect_error("data generate " + plugin("broken_hangs") + " --out d --time-limit 1", 70, hung);
  expect_error("train surrogate " + plugin("broken_hangs") + " --out s.psn --time-limit 1", 70,
               hung);
  for (const std::string& command : {"data generate " + plugin("broken_hangs") + " --out e",
                                     "train surrogate " + plugin("broken_hangs") + " --out t.psn",
                                     "infer " + plugin("broken_hangs") + " --out i"}) {
    EXPECT_EQ(stopped(command, SIGTERM, [&] { wait(500); }), 130) << command;
    EXPECT_NE(slurp(folder_ / "err").find("psn: error: interrupted"), std::string::npos);
  }
}

// What was learned, made or inferred before the simulator hung is not lost.
TEST_F(InterruptedCommands, WhatCameBeforeAHangIsKept) {
  const std::string model = plugin("broken_stalls"), limit = " --time-limit 1 --threads 1 --quiet";
  const Outcome training =
      psn("train surrogate " + model + " --out s.psn --time-limit 1 --batch_size 64 --lstm_dim 8" +
          " --validation 64 --quiet");
  EXPECT_EQ(training.code, 70) << training.err;
  EXPECT_NE(training.err.find("'s.checkpoint.psn' holds the network after"), std::string::npos)
      << training.err;
  EXPECT_TRUE(fs::exists(folder_ / "s.checkpoint.psn"));
  const Outcome generated = psn("data generate " + model + " -n 100000 --out d" + limit);
  EXPECT_EQ(generated.code, 70) << generated.err;
  EXPECT_GT(json("data verify d")["traces"].get<int>(), 1000);
  const Outcome inferred = psn("infer " + model + " --observe x=1 -n 100000 --out i" + limit);
  EXPECT_EQ(inferred.code, 70) << inferred.err;
  EXPECT_NE(inferred.err.find("'i.unfinished' has"), std::string::npos) << inferred.err;
}

// An experiment that is killed again and again ends as one that is not.
TEST_F(InterruptedCommands, ExperimentsSurviveBeingKilled) {
  const auto without_speeds = [](nlohmann::json json) {
    json.erase("traces_per_second");
    json.erase("simulator_runs");  // those that an interruption loses count
    json.erase("programs_per_second");
    json.erase("training_seconds");
    return json;
  };
  std::mt19937 random(1);
  for (const std::string name : {"control-flow", "program-synthesis"}) {
    const std::string experiment =
        "experiment " + name + " --quick --traces 2000 --seed 3 --json --quiet --out ";
    const auto whole = without_speeds(nlohmann::json::parse(psn(experiment + "whole_" + name).out));
    std::uniform_int_distribution<int> milliseconds(0, 3000);
    for (int kills = 0; kills < 4; ++kills) {
      stopped(experiment + name, SIGKILL, [&] {
        wait_until([&] { return fs::exists(folder_ / name / "experiment.lock"); });
        wait(milliseconds(random));
      });
    }
    const Outcome last = psn(experiment + name);
    ASSERT_EQ(last.code, 0) << last.err;
    EXPECT_EQ(without_speeds(nlohmann::json::parse(last.out)), whole);
    // Once more: nothing is trained again, and the figures are the same.
    const auto written = fs::last_write_time(folder_ / name / "surrogate.psn");
    EXPECT_EQ(without_speeds(nlohmann::json::parse(psn(experiment + name).out)), whole);
    EXPECT_EQ(fs::last_write_time(folder_ / name / "surrogate.psn"), written);
    for (const auto& entry : fs::directory_iterator(folder_ / name)) {
      EXPECT_EQ(entry.path().string().find(".tmp"), std::string::npos) << entry.path();
      EXPECT_EQ(entry.path().string().find("unfinished"), std::string::npos) << entry.path();
    }
  }
}

// On a terminal: before the first report is due by the number of batches.
TEST_F(InterruptedCommands, ProgressOnATerminal) {
  const std::string command = "cd '" + folder_.string() +
                              "' && exec '" PSN_PROGRAM
                              "' train surrogate control-flow --traces 1000000000 --batch_size 4096"
                              " --validation 0 --out s.psn";
  int terminal = -1;
  const pid_t child = ::forkpty(&terminal, nullptr, nullptr, nullptr);
  if (child == 0) {
    ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    ::_exit(127);
  }
  std::string seen;
  char buffer[4096];
  while (seen.find(" left") == std::string::npos) {
    const ssize_t count = ::read(terminal, buffer, sizeof buffer);
    ASSERT_GT(count, 0) << seen;
    seen.append(buffer, static_cast<std::size_t>(count));
  }
  for (const char* part : {"control-flow: ", " of 1000000000 traces, ", "/s, KL ", " h left"}) {
    EXPECT_NE(seen.find(part), std::string::npos) << part << " in " << seen;
  }
  ::kill(child, SIGINT);
  while (::read(terminal, buffer, sizeof buffer) > 0) {
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 130);
  ::close(terminal);
}

// In a log a line comes after half a minute, from one that may speak.
TEST_F(InterruptedCommands, ProgressInALog) {
  const std::string train =
      "train surrogate " + plugin("broken_sleeps") + " --traces 1000000000 --out s.psn";
  const auto seen = [&] { return slurp(folder_ / "err"); };
  EXPECT_EQ(stopped(train, SIGINT,
                    [&] { wait_until([&] { return seen().find('\n') != std::string::npos; }); }),
            130);
  EXPECT_NE(seen().find("broken_sleeps.so: "), std::string::npos) << seen();
  EXPECT_NE(seen().find(" h left\n"), std::string::npos) << seen();
  EXPECT_EQ(seen().find('\r'), std::string::npos);
}

}  // namespace
}  // namespace psn
