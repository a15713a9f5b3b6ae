// psn with simulators in other processes, as a user meets them: the examples, psn serve, faults,
// and nothing left behind however it ends.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "experiments/reference/reference.h"
#include "psn/nn/network_file.h"
#include "tests/law/network_fixture.h"

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class RemoteCommands : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("psn_remote_" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  // A shell command; psn is "$PSN" in it.
  int shell(const std::string& command) const {
    const std::string whole = "cd '" + folder_.string() +
                              "' && export PSN='" PSN_PROGRAM "' TMPDIR=. && { " + command +
                              "; } >stdout 2>stderr";
    const int status = std::system(whole.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  std::string text(const char* name) const {
    std::stringstream content;
    content << std::ifstream(folder_ / name).rdbuf();
    return content.str();
  }
  nlohmann::json json(const std::string& arguments) const {
    EXPECT_EQ(shell("\"$PSN\" " + arguments + " --json --quiet"), 0) << text("stderr");
    return nlohmann::json::parse(text("stdout"));
  }
  // Processes whose command line has this in it.
  static int running(const std::string& part) {
    int count = 0;
    for (const auto& entry : fs::directory_iterator("/proc")) {
      std::ifstream in(entry.path() / "cmdline");
      std::stringstream line;
      line << in.rdbuf();
      count += line.str().find(part) != std::string::npos;
    }
    return count;
  }
  static bool all_gone(const std::string& part) {
    for (int i = 0; i < 500 && running(part) > 0; ++i) std::this_thread::sleep_for(10ms);
    return running(part) == 0;
  }

  // In the temporary folder.
  int folders() const {
    return static_cast<int>(std::count_if(fs::directory_iterator(folder_), {},
                                          [](const auto& entry) { return entry.is_directory(); }));
  }

  fs::path folder_;
};

const std::string kData = " --observe obs0=2 --observe obs1=3 -n 300 --seed 4 ";

TEST_F(RemoteCommands, EveryExampleGivesThePosteriorOfTheBuiltInModel) {
  for (const std::string engine : {"is", "rmh"}) {
    const auto expected = json("infer gaussian" + kData + "--engine " + engine)["posterior"];
    for (const std::string command :
         {PSN_EXAMPLES "/example_remote_cpp", PSN_EXAMPLES "/example_remote_c",
          PSN_EXAMPLES "/example_remote_fortran",
          "env PYTHONPATH=" PSN_SOURCE "/python " PSN_PYTHON " " PSN_SOURCE
          "/examples/remote/gaussian.py",
          PSN_PROGRAM " serve gaussian --ppx"}) {
      const std::string infer =
          "infer 'exec:" + command + " {endpoint}' --workers 2" + kData + "--engine " + engine;
      const auto result = json(infer);
      EXPECT_EQ(result["posterior"], expected) << command;
      EXPECT_FALSE(result.contains("failed_runs"));
      const auto held = json(infer + " --given mu=1.5 --query mu,result")["posterior"];
      EXPECT_EQ(held["mu"]["q05"], 1.5) << command;
      EXPECT_EQ(held["result"], held["mu"]) << command;  // what the program returns
    }
  }
  EXPECT_TRUE(all_gone("gaussian --ppx ipc://"));
}

TEST_F(RemoteCommands, ServeOverTcpWithKeys) {
  ASSERT_EQ(shell("\"$PSN\" keys server && \"$PSN\" keys engine"), 0) << text("stderr");
  EXPECT_EQ(fs::status(folder_ / "server").permissions() & fs::perms::others_read, fs::perms::none);
  const int code = shell(R"(
    "$PSN" serve gaussian --ppx 'tcp://127.0.0.1:*' --curve-keys server --curve-allow engine.pub \
        >where & server=$!
    for i in $(seq 500); do [ -s where ] && break; sleep 0.02; done
    at=$(sed 's/.* at //' where)
    "$PSN" infer "ppx+$at" --curve-server server.pub --curve-keys engine -n 50 --json --quiet \
        --observe obs0=2 --observe obs1=3
    status=$?
    kill -TERM $server; wait $server
    exit $(($? * 1000 + status)))");
  EXPECT_EQ(code, 0) << text("stderr");
  const auto result = nlohmann::json::parse(text("stdout"));
  EXPECT_EQ(result["model"], "gaussian");
}

// Four engines at one psn serve, whose answers were mixed before.
TEST_F(RemoteCommands, EnginesDoNotMeet) {
  ASSERT_EQ(shell(R"(
    "$PSN" serve hmm --ppx 'tcp://127.0.0.1:*' >where & server=$!
    until grep -q serving where; do sleep 0.05; done
    at=$(sed 's/.* at //' where)
    for seed in 1 2 3 4; do
      "$PSN" infer "ppx+$at" -n 100 --seed $seed --json --quiet >seed-$seed & engines="$engines $!"
    done
    for engine in $engines; do wait $engine || status=1; done
    kill -TERM $server; wait $server; exit $status)"),
            0)
      << text("stderr");
  EXPECT_NE(text("where").find(" at tcp://127.0.0.1:"), std::string::npos) << text("where");
  for (const char* seed : {"1", "2", "3", "4"}) {
    const auto alone = json(fmt::format("infer hmm -n 100 --seed {}", seed));
    const auto together = nlohmann::json::parse(text(fmt::format("seed-{}", seed).c_str()));
    EXPECT_EQ(together["posterior"], alone["posterior"]) << "seed " << seed;
  }
}

// psn serve with a surrogate's file: the posterior through it is the one inside it.
TEST_F(RemoteCommands, ASurrogateIsServed) {
  using namespace psn;
  save_network(
      (folder_ / "s.psn").string(),
      {psn::test::network_of(reference::gaussian(), {.config = psn::test::small_config()}), "[]"});
  for (const std::string engine : {"is", "lmh"}) {
    const std::string options = kData + "--engine " + engine;
    const auto expected = json("infer s.psn" + options)["posterior"];
    const auto served = json("infer 'exec:" PSN_PROGRAM " serve s.psn --ppx {endpoint}'" + options);
    EXPECT_EQ(served["posterior"], expected);
  }
}

// An engine that speaks as PyProb does, byte for byte, with simulators of ours.
class LikePyProb : public RemoteCommands {
 protected:
  // What the engine prints of a simulator that serves at the address after its command.
  std::string engine(const std::string& command, const std::string& simulator) const {
    EXPECT_EQ(shell("export PYTHONPATH=" PSN_SOURCE "/python; " + simulator +
                    " ipc://./socket >served & simulator=$!; " PSN_PYTHON " " PSN_SOURCE
                    "/tests/protocol/engine.py " +
                    fmt::format(fmt::runtime(command), "ipc://./socket") +
                    "; status=$?; kill $simulator; wait $simulator; exit $status"),
              0)
        << simulator << text("stderr");
    return text("stdout");
  }
};

// The posterior is N(2.25, 5/6); five standard errors.
TEST_F(LikePyProb, Infers) {
  EXPECT_EQ(shell("PYTHONPATH=" PSN_SOURCE "/python " PSN_PYTHON " " PSN_SOURCE
                  "/tests/protocol/engine.py golden " PSN_SOURCE "/tests/protocol/recorded/*.hex"),
            0)
      << text("stderr");
  std::ofstream(folder_ / "unnamed.py") << R"(
import sys
from psn import ppx
def program():
    mu = ppx.sample(ppx.Normal(1, 5 ** 0.5))
    ppx.tag(mu)
    ppx.observe(ppx.Normal(mu, 2 ** 0.5), name="obs0")
    ppx.observe(ppx.Normal(mu, 2 ** 0.5), name="obs1")
    return mu
ppx.serve(program, "unnamed", sys.argv[1])
)";
  for (const std::string simulator :
       {"\"$PSN\" serve gaussian --ppx", PSN_EXAMPLES "/example_remote_c",
        PSN_PYTHON " " PSN_SOURCE "/examples/remote/gaussian.py", PSN_PYTHON " unnamed.py"}) {
    double mean = 0, effective = 0;
    std::istringstream(engine("infer {} 400 obs0=2 obs1=3", simulator)) >> mean >> effective;
    EXPECT_GT(effective, 50);
    EXPECT_NEAR(mean, 2.25, 5 * std::sqrt(5.0 / 6 / effective)) << simulator;
  }
}

// It does not tell what it has observed; the surrogate goes on all the same.
TEST_F(LikePyProb, InfersInASurrogate) {
  using namespace psn;
  save_network(
      (folder_ / "s.psn").string(),
      {psn::test::network_of(reference::gaussian(), {.config = psn::test::small_config()}), "[]"});
  double mean = 0, effective = 0;
  std::istringstream(engine("infer {} 200 obs0=2 obs1=3", "\"$PSN\" serve s.psn --ppx")) >> mean >>
      effective;
  EXPECT_TRUE(std::isfinite(mean));
  EXPECT_GE(effective, 1);
}

TEST_F(LikePyProb, NeedNotSeeTheDataOfTheProgram) {
  EXPECT_EQ(engine("data {}", "\"$PSN\" serve gaussian --ppx"), "2\n");
  EXPECT_EQ(engine("data {}", "\"$PSN\" serve gaussian --withhold-data --ppx"), "0\n");
  EXPECT_NE(text("served").find("data are withheld"), std::string::npos) << text("served");
}

// A list of observations is spread over a remote simulator's obs_0, obs_1, ... as in process.
TEST_F(RemoteCommands, AListOfObservations) {
  std::string list;
  for (int t = 0; t < 16; ++t) list += fmt::format("{}{}", t ? "," : "", t % 3 - 0.5);
  const std::string options = " --observe 'obs=[" + list + "]' -n 100 --seed 4";
  const auto expected = json("infer hmm" + options)["posterior"];
  const std::string remote = "infer 'exec:" PSN_PROGRAM " serve hmm --ppx tcp://127.0.0.1:{port}'";
  EXPECT_EQ(json(remote + options)["posterior"], expected);
  EXPECT_EQ(shell("\"$PSN\" " + remote + " --observe 'obs=[" + list + ",1]'"), 64);
  EXPECT_NE(text("stderr").find("'obs' has 17 values, but the model takes 16"), std::string::npos)
      << text("stderr");
  EXPECT_EQ(shell("\"$PSN\" " + remote + " --observe obs=1"), 64);
  EXPECT_NE(text("stderr").find("no site of the model takes the observation 'obs'"),
            std::string::npos)
      << text("stderr");
}

// One worker that fails every 20th run: of the 100 trial runs 5 fail, and of the work's own 100 as
// many as say so.
TEST_F(RemoteCommands, TrialRunsDoNotCount) {
  const auto result =
      json("infer 'exec:" PSN_FAULTY " exit 20 {endpoint}' -n 100 --max-failures 0.5 --out r");
  const int failed = result["failed_runs"]["count"].get<int>();
  EXPECT_GE(failed, 4);
  EXPECT_LE(failed, 6);
  std::ifstream csv(folder_ / "r/posterior.csv");
  int lines = -1;  // the header
  for (std::string line; std::getline(csv, line);) ++lines;
  EXPECT_EQ(lines + failed, 100);
}

TEST_F(RemoteCommands, FailuresAreToldAndLimited) {
  const std::string faulty = "infer 'exec:" PSN_FAULTY " exit 20 {endpoint}' -n 100 ";
  ASSERT_EQ(shell("\"$PSN\" " + faulty + "--max-failures 0.5"), 0) << text("stderr");
  EXPECT_NE(text("stdout").find(" runs failed"), std::string::npos) << text("stdout");
  EXPECT_NE(text("stderr").find("left out, which biases the result"), std::string::npos);
  EXPECT_NE(text("stderr").find("exit code 3; its last output: about to misbehave: exit"),
            std::string::npos)
      << text("stderr");
  EXPECT_EQ(shell("\"$PSN\" " + faulty), 70);
  EXPECT_NE(text("stderr").find("more than the 1 allowed"), std::string::npos) << text("stderr");
  const auto simulated =
      json("simulate 'exec:" PSN_FAULTY " exit 20 {endpoint}' -n 100 --max-failures 0.5 --out r");
  EXPECT_GT(simulated["failed_runs"]["count"].get<int>(), 0);
  std::ifstream csv(folder_ / "r/samples.csv");
  int lines = 0;
  for (std::string line; std::getline(csv, line);) ++lines;
  EXPECT_LT(lines, 101);
  EXPECT_EQ(shell("\"$PSN\" infer 'exec:true'"), 64);
  EXPECT_EQ(shell("\"$PSN\" infer 'exec:false {endpoint}'"), 70);
}

// However psn ends, no simulator outlives it, and nothing is left in the temporary folder.
TEST_F(RemoteCommands, NoOrphans) {
  const std::string part = "none 1000000000";
  const std::string start = "\"$PSN\" infer 'exec:" PSN_FAULTY " " + part +
                            " {endpoint}' --workers 3 -n 100000000 --query x & psn=$!; "
                            // Until all have met, and so no socket's folder is left.
                            "for i in $(seq 500); do sleep 0.02; "
                            "[ $(pgrep -cf '^" PSN_FAULTY " " +
                            part +
                            "') = 3 ] && "
                            "! ls -d psn-* >/dev/null 2>&1 && sleep 0.3 && "
                            "! ls -d psn-* >/dev/null 2>&1 && break; done; ";
  EXPECT_EQ(shell(start + "kill -INT $psn; wait $psn"), 130) << text("stderr");
  EXPECT_TRUE(all_gone(part));
  EXPECT_EQ(folders(), 0);
  EXPECT_EQ(shell(start + "kill -KILL $psn; wait $psn"), 137);
  EXPECT_TRUE(all_gone(part));
  EXPECT_EQ(folders(), 0);
}

// A psn that was killed before it met its simulators leaves a folder, which the next one removes;
// not one that is in use, or that is somebody's.
TEST_F(RemoteCommands, AbandonedFoldersAreRemoved) {
  for (const char* name : {"psn-aaaaaa", "psn-bbbbbb", "psn-cccccc", "psn-others-folder"}) {
    fs::create_directory(folder_ / name);
    fs::permissions(folder_ / name, fs::perms::owner_all);
  }
  std::ofstream(folder_ / "psn-bbbbbb" / "notes.txt") << "mine";
  const int used = ::open((folder_ / "psn-cccccc").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ASSERT_EQ(::flock(used, LOCK_EX | LOCK_NB), 0);
  json("infer 'exec:" PSN_EXAMPLES "/example_remote_cpp {endpoint}' -n 10");
  EXPECT_FALSE(fs::exists(folder_ / "psn-aaaaaa"));
  EXPECT_TRUE(fs::exists(folder_ / "psn-bbbbbb" / "notes.txt"));
  EXPECT_TRUE(fs::exists(folder_ / "psn-cccccc"));
  EXPECT_TRUE(fs::exists(folder_ / "psn-others-folder"));
  ::close(used);
}

TEST_F(RemoteCommands, TracesAreStoredTheSameWhateverTheWorkers) {
  const std::string generate =
      "data generate 'exec:" PSN_EXAMPLES "/example_remote_cpp {endpoint}' -n 200 --seed 3 ";
  EXPECT_EQ(json(generate + "--out a")["traces"], 200);
  json(generate + "--workers 3 --out b");
  for (const std::string store : {"a", "b"}) {
    EXPECT_EQ(json("data verify " + store)["traces"], 200);
    json("data export " + store + " --out " + store + ".csv");
  }
  EXPECT_GT(text("a.csv").size(), 1000u);
  EXPECT_EQ(text("a.csv"), text("b.csv"));
}

}  // namespace
