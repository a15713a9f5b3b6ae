// psn under mpirun: the same results as in one process, and an end for all if one fails.
#include <signal.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "tests/cli/command_test.h"

namespace psn {
namespace {

using namespace test;

class MpiCommands : public CommandTest {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    ::setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    ::setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    ::setenv("OMPI_MCA_rmaps_base_oversubscribe", "1", 1);
    ::setenv("OMPI_MCA_mpi_yield_when_idle", "1", 1);
    ::setenv("OMPI_MCA_hwloc_base_binding_policy", "none", 1);
    ::setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", 1);
  }

  Outcome on_ranks(int count, const std::string& arguments) const {
    return psn(arguments, PSN_MPIRUN " -n " + std::to_string(count) + " ");
  }
};

const std::string kTrain =
    "train surrogate control-flow --addressing instance --traces 6400 --batch_size 64 --lstm_dim "
    "16 "
    "--validation 200 --seed 5 --json ";

std::vector<double> losses(const nlohmann::json& network) {
  std::vector<double> result;
  for (const auto& step : network["history"]) result.push_back(step["loss"]);
  return result;
}

TEST_F(MpiCommands, TrainLikeOneProcess) {
  ASSERT_EQ(psn(kTrain + "--out one.psn").code, 0) << slurp(folder_ / "stderr");
  const auto one = json("inspect one.psn");
  for (const int count : {2, 4}) {
    const std::string file = "n" + std::to_string(count) + ".psn";
    const Outcome outcome = on_ranks(count, kTrain + "--out " + file);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(nlohmann::json::parse(outcome.out)["traces"], 6400);  // once, not once a rank
    const auto shared = json("inspect " + file);
    EXPECT_EQ(shared["nodes"], one["nodes"]);
    const auto expected = losses(one), got = losses(shared);
    ASSERT_EQ(got.size(), expected.size());
    ASSERT_GE(got.size(), 2u);  // means over 50 batches
    for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], 1e-4) << i;
  }
}

TEST_F(MpiCommands, InferLikeOneProcess) {
  const std::string how =
      "infer gaussian --observe obs0=8 --observe obs1=9 -n 1001 --seed 3 --json --quiet --engine ";
  for (const std::string engine : {"is", "lmh --chains 3", "rmh --chains 5"}) {
    ASSERT_EQ(psn(how + engine + " --out one").code, 0) << slurp(folder_ / "stderr");
    const Outcome outcome = on_ranks(4, how + engine + " --out four");
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(slurp(folder_ / "four/posterior.csv"), slurp(folder_ / "one/posterior.csv"));
    EXPECT_TRUE(nlohmann::json::accept(outcome.out));
  }
}

// The store is that of one process, also if it goes on with another number of ranks.
TEST_F(MpiCommands, GenerateLikeOneProcess) {
  const std::string generate = "data generate control-flow --seed 4 --json --quiet ";
  ASSERT_EQ(psn(generate + "-n 1501 --out one").code, 0) << slurp(folder_ / "stderr");
  for (const auto& [ranks, count] : {std::pair{3, 700}, {1, 701}, {4, 1501}, {2, 1501}}) {
    const Outcome outcome = on_ranks(ranks, generate + "--out many -n " + std::to_string(count));
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(nlohmann::json::parse(outcome.out)["traces"], count);
  }
  for (const char* store : {"one", "many"}) {
    EXPECT_EQ(json(std::string("data verify ") + store)["traces"], 1501);
    ASSERT_EQ(psn(std::string("data export ") + store + " --out " + store + ".csv").code, 0);
  }
  EXPECT_EQ(slurp(folder_ / "many.csv"), slurp(folder_ / "one.csv"));
  EXPECT_GT(slurp(folder_ / "one.csv").size(), 1501u);
}

TEST_F(MpiCommands, MistakesAreOneLineOfPsn) {
  const std::pair<std::string, std::string> mistakes[] = {
      {"infer gaussian --observe obs0=1 -n oops", "oops"},
      {"inspect s.psn", "'psn inspect' runs in one process, without mpirun"},
      {"data info store", "'psn data info' runs in one process, without mpirun"},
      {kTrain + "--out s.psn --batch_size 63", "63 traces"},
      {"train surrogate nonsense --out s.psn", "nonsense"}};
  for (const auto& [arguments, part] : mistakes) {
    SCOPED_TRACE(arguments);
    const Outcome outcome = on_ranks(2, arguments);
    EXPECT_EQ(outcome.code, 64);
    EXPECT_EQ(outcome.out, "");
    const auto line = outcome.err.find("psn: error: ");
    ASSERT_NE(line, std::string::npos) << outcome.err;
    EXPECT_EQ(outcome.err.find("psn: error: ", line + 1), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find(part, line), std::string::npos) << outcome.err;
  }
}

// Without the library, psn started by mpirun says so; without mpirun it does not miss it.
TEST_F(MpiCommands, SaysSoIfMpiCannotBeLoaded) {
  const fs::path copy = folder_ / "copy";
  fs::create_directories(copy / "bin");
  fs::create_directories(copy / "lib");
  const fs::path program = PSN_PROGRAM;
  for (const auto& entry : fs::directory_iterator(program.parent_path().parent_path() / "lib")) {
    if (entry.path().filename() == "libpsn_mpi.so" || entry.is_directory()) continue;
    fs::copy(entry.path(), copy / "lib" / entry.path().filename(), fs::copy_options::copy_symlinks);
  }
  fs::copy(program, copy / "bin");
  const std::string run = "LD_LIBRARY_PATH='" + (copy / "lib").string() + "' '" +
                          (copy / "bin/psn").string() + "' models >/dev/null 2>error";
  const std::string there = "cd '" + folder_.string() + "' && ";
  EXPECT_EQ(WEXITSTATUS(std::system((there + run).c_str())), 0) << slurp(folder_ / "error");
  ASSERT_EQ(WEXITSTATUS(std::system((there + "OMPI_COMM_WORLD_SIZE=2 " + run).c_str())), 65);
  const std::string error = slurp(folder_ / "error");
  EXPECT_NE(error.find("MPI cannot be loaded"), std::string::npos) << error;
  EXPECT_EQ(std::count(error.begin(), error.end(), '\n'), 1) << error;
}

// The ranks of a job, from /proc: processes whose command line has this word.
std::vector<pid_t> processes_with(const std::string& word) {
  std::vector<pid_t> found;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (!std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; })) {
      continue;
    }
    std::error_code ignored;
    const std::string program = fs::read_symlink(entry.path() / "exe", ignored).filename();
    if (program != "psn") continue;
    if (slurp(entry.path() / "cmdline").find(word) != std::string::npos) {
      found.push_back(std::stoi(name));
    }
  }
  return found;
}

// kill -9 of one rank ends all, and what is left goes on to the same end.
TEST_F(MpiCommands, TheDeathOfOneRankLeavesACheckpoint) {
  const std::string train =
      "train surrogate control-flow --traces 9600 --batch_size 32 --lstm_dim 32 --validation 0 "
      "--checkpoint-every 0 --resume --out ";
  const std::string file = "killed_" + std::to_string(::getpid()) + ".psn";
  Outcome outcome{};
  std::thread job([&] { outcome = on_ranks(2, train + file); });
  const fs::path checkpoint = folder_ / (file.substr(0, file.size() - 4) + ".checkpoint.psn");
  while (!fs::exists(checkpoint)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const std::vector<pid_t> ranks = processes_with(file);
  ASSERT_EQ(ranks.size(), 2u);
  ::kill(ranks[1], SIGKILL);
  job.join();
  EXPECT_NE(outcome.code, 0);
  EXPECT_EQ(processes_with(file), std::vector<pid_t>());
  ASSERT_TRUE(fs::exists(checkpoint));
  ASSERT_FALSE(fs::exists(folder_ / file));

  outcome = on_ranks(2, train + file);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_FALSE(fs::exists(checkpoint));
  outcome = on_ranks(2, train + "whole.psn");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  for (const std::string& network : {file, std::string("whole.psn")}) {
    ASSERT_EQ(psn("simulate " + network + " -n 500 --out of_" + network).code, 0);
  }
  EXPECT_EQ(slurp(folder_ / ("of_" + file) / "samples.csv"),
            slurp(folder_ / "of_whole.psn" / "samples.csv"));
}

// An error of the simulator on one rank: one line, and a checkpoint.
TEST_F(MpiCommands, AnErrorOfOneRankLeavesACheckpoint) {
  const std::string plugin = PSN_PLUGIN_DIR "/libbroken_drifts.so";
  const Outcome outcome =
      on_ranks(2, "train surrogate " + plugin +
                      " --traces 64000 --batch_size 64 --lstm_dim 8 --validation 0 --out s.psn");
  EXPECT_EQ(outcome.code, 70) << outcome.err;
  EXPECT_NE(outcome.err.find("psn: error: rank 0: "), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("s.checkpoint.psn"), std::string::npos) << outcome.err;
  EXPECT_TRUE(fs::exists(folder_ / "s.checkpoint.psn"));
}

}  // namespace
}  // namespace psn
