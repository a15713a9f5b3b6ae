// psn data, and training from a store.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "psn/base/rng.h"
#include "psn/data/store.h"
#include "tests/cli/command_test.h"

namespace psn {
namespace {

namespace fs = std::filesystem;
using data::StoreReader;

class DataCommands : public testing::CommandTest {
 protected:
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  // The command in a process of its own, to be killed.
  pid_t begin(const std::string& arguments) const {
    const pid_t child = ::fork();
    if (child == 0) {
      const std::string command = "exec '" PSN_PROGRAM "' " + arguments + " >/dev/null 2>&1";
      ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
      ::_exit(127);
    }
    return child;
  }

  static void expect_same_traces(const std::string& a, const std::string& b) {
    StoreReader one(a), other(b);
    ASSERT_EQ(one.size(), other.size());
    for (std::uint64_t i = 0; i < one.size(); ++i) {
      ASSERT_EQ(one.payload(i), other.payload(i)) << "trace " << i;
    }
    ASSERT_EQ(one.dictionary().forms().size(), other.dictionary().forms().size());
    for (std::size_t i = 0; i < one.dictionary().forms().size(); ++i) {
      ASSERT_EQ(one.dictionary().form_bytes(i), other.dictionary().form_bytes(i));
    }
  }
};

TEST_F(DataCommands, GeneratesInfoVerifies) {
  const auto made = json("data generate control-flow -n 3000 --out s --seed 3");
  EXPECT_EQ(made["traces"], 3000);
  EXPECT_EQ(made["new_traces"], 3000);
  const auto info = json("data info s");
  EXPECT_EQ(info["traces"], 3000);
  EXPECT_EQ(info["parts"][0]["model"], "control-flow");
  EXPECT_EQ(info["parts"][0]["seed"], 3);
  EXPECT_NEAR(info["length"]["mean"].get<double>(),
              json("simulate control-flow -n 3000")["mean_length"].get<double>(), 0.3);
  EXPECT_NEAR(info["addresses"][0]["per_trace"].get<double>(), 1, 1e-9);
  EXPECT_TRUE(json("data verify s")["clean"].get<bool>());
  EXPECT_NE(psn("data info s").out.find("3000 traces"), std::string::npos);
}

TEST_F(DataCommands, GoesOnWhereItStoppedWhateverTheThreads) {
  json("data generate control-flow -n 5000 --out whole --threads 1 --width 3");
  json("data generate control-flow -n 1 --out parts --threads 2");
  EXPECT_EQ(json("data generate control-flow -n 2500 --out parts")["new_traces"], 2499);
  EXPECT_EQ(json("data generate control-flow -n 2500 --out parts")["new_traces"], 0);
  json("data generate control-flow -n 5000 --out parts --width 100");
  expect_same_traces(path("whole"), path("parts"));
}

// Killed at twenty moments: what is there is clean and only grows, and in the end the store is that
// of a generation that nothing disturbed.
TEST_F(DataCommands, SurvivesKillsAtAnyMoment) {
  constexpr std::uint64_t kTraces = 60'000;
  const std::string generate =
      "data generate control-flow -n " + std::to_string(kTraces) + " --threads 1 --out ";
  Rng rng(7);
  std::uint64_t before = 0;
  std::string log;
  for (int kill = 0; kill < 20; ++kill) {
    const pid_t child = begin(generate + path("killed"));
    std::this_thread::sleep_for(std::chrono::duration<double>(rng.uniform() * 1.5));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    if (!fs::exists(path("killed"))) continue;
    ASSERT_EQ(psn("data verify killed").code, 0);
    const std::uint64_t now = StoreReader(path("killed")).size();
    EXPECT_GE(now, before);
    log += std::to_string(now) + ' ';
    before = now;
  }
  RecordProperty("sizes", log);
  json(generate + "killed");
  json(generate + "whole");
  expect_same_traces(path("whole"), path("killed"));
}

TEST_F(DataCommands, InterruptedGenerationKeepsWhatItHas) {
  const pid_t child = begin("data generate control-flow -n 100000000 --out " + path("s"));
  while (!fs::exists(path("s/config.toml"))) ::usleep(1000);
  ::usleep(200'000);
  ::kill(child, SIGTERM);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 130);
  EXPECT_GT(StoreReader(path("s")).size(), 0u);
  EXPECT_EQ(psn("data verify s").code, 0);
}

TEST_F(DataCommands, RefusesWhatDoesNotFit) {
  json("data generate control-flow -n 100 --out s");
  expect_error("data generate control-flow -n 200 --out s --seed 1", 65, "from seed 0, not of");
  expect_error("data generate gaussian -n 200 --out s", 65, "not of 'gaussian'");
  expect_error("data generate control-flow -n 200", 64, "--out");
  expect_error("data generate control-flow -n 200 --out no/such/s", 65, "cannot create");
  expect_error("data info none", 65, "there is no trace store");
  expect_error("data verify none", 65, "there is no trace store");
  expect_error("data generte", 64, "generate");
  expect_error("train surrogate --out x.psn", 64, "on a model or on --data");
  expect_error("train surrogate control-flow --data s --out x.psn", 64, "one of both");
  expect_error("train surrogate --data none --out x.psn", 65, "there is no trace store");
}

TEST_F(DataCommands, ConfigurationGoesAlong) {
  json("data generate control-flow -n 50 --out s --seed 9");
  EXPECT_NE(testing::slurp(path("s/config.toml")).find("psn data generate"), std::string::npos);
  const auto more = json("data generate --config s/config.toml -n 70");
  EXPECT_EQ(more["seed"], 9);
  EXPECT_EQ(more["new_traces"], 20);
}

TEST_F(DataCommands, BothNetworksTrainFromAStore) {
  json("data generate control-flow -n 4000 --out s");
  const std::string train = " --data s --validation 100 --lstm_dim 16 --traces 2000 --seed 5";
  for (const std::string kind : {"surrogate", "inference"}) {
    const auto first = json("train " + kind + train + " --out a.psn");
    EXPECT_EQ(first["traces"], 2000);
    json("train " + kind + train + " --out b.psn");
    EXPECT_EQ(testing::slurp(path("a.psn")), testing::slurp(path("b.psn")));
  }
  EXPECT_EQ(json("train surrogate --data s --epochs 0.5 --lstm_dim 16 --validation 0 --out c.psn")
                ["traces"],
            1900);
  expect_error("train inference --data s --observe_embedding nothing.dim=8 --out d.psn", 64,
               "has no observation named 'nothing'");
}

}  // namespace
}  // namespace psn
