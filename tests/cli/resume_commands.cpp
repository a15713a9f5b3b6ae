// psn train, stopped in every way there is and resumed.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>

#include <random>
#include <set>

#include "tests/cli/command_test.h"

namespace psn {
namespace {

using namespace test;

class ResumeCommands : public CommandTest {
 protected:
  static constexpr const char* kTrain =
      "train surrogate control-flow --traces 6400 --batch_size 64 --lstm_dim 8 --seed 1 "
      "--validation 64 --validate_every 1 --quiet ";

  std::string uninterrupted() {
    const Outcome outcome = psn(std::string(kTrain) + "--out whole.psn");
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_FALSE(fs::exists(folder_ / "whole.checkpoint.psn"));
    EXPECT_FALSE(fs::exists(folder_ / "whole.checkpoint.best.psn"));
    return slurp(folder_ / "whole.psn");
  }

  // An unfinished training, s.checkpoint.psn.
  void leave_unfinished(const std::string& more = "") {
    const Outcome outcome =
        psn(std::string(kTrain) + "--out s.psn --max-time 0.01s --checkpoint-every 0 " + more);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    ASSERT_TRUE(fs::exists(folder_ / "s.checkpoint.psn")) << outcome.out;
  }
};

TEST_F(ResumeCommands, KilledAtTwentyMomentsItEndsAsIfItHadNotBeen) {
  const std::string expected = uninterrupted();
  std::mt19937 random(1);
  std::uniform_int_distribution<int> milliseconds(5, 400);
  const std::string resume = std::string(kTrain) + "--out s.psn --checkpoint-every 0 --resume";
  for (int kills = 0; kills < 20; ++kills) {
    if (stopped(resume, SIGKILL, [&] { wait(milliseconds(random)); }) == -1) continue;
    EXPECT_TRUE(slurp(folder_ / "s.psn") == expected);
    fs::remove(folder_ / "s.psn");  // it was done before: once more
  }
  const Outcome last = psn(resume);
  ASSERT_EQ(last.code, 0) << last.err;
  EXPECT_TRUE(slurp(folder_ / "s.psn") == expected);
  // Nothing is left but the results, and what was being written when the end came.
  EXPECT_FALSE(fs::exists(folder_ / "s.checkpoint.psn"));
  expect_error(resume, 64, "'s.psn' is finished");
}

// A lock, not a file that is there: kill -9 leaves nothing that would have to be cleared away.
TEST_F(ResumeCommands, TwoTrainingsOfOneFileAreOneTooMany) {
  const std::string train = std::string(kTrain) + "--out s.psn --checkpoint-every 0 --resume";
  const int code = stopped(train + " --traces 100000000", SIGKILL, [&] {
    wait_until([&] { return fs::exists(folder_ / "s.checkpoint.psn"); });
    expect_error(train, 65, "is at work on 's.psn'");
    EXPECT_EQ(psn(std::string(kTrain) + "--out t.psn").code, 0);
  });
  EXPECT_EQ(code, -1);
  // As if it had been killed while it wrote; and a file that somebody is writing.
  for (const std::string name : {"s.psn.1.tmp", "s.psn.toml.2.tmp", "s.checkpoint.psn.3.tmp",
                                 "s.checkpoint.best.psn.4.tmp", "s.psn.5.tmp"}) {
    std::ofstream(folder_ / name) << "half";
  }
  const int written = ::open((folder_ / "s.psn.5.tmp").c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(::flock(written, LOCK_EX | LOCK_NB), 0);
  const Outcome outcome = psn(train + " --traces 100000000 --max-time 0.01s");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  std::set<std::string> left;
  for (const auto& entry : fs::directory_iterator(folder_)) {
    left.insert(entry.path().filename().string());
  }
  EXPECT_EQ(left,
            (std::set<std::string>{"err", "out", "s.checkpoint.best.psn", "s.checkpoint.psn",
                                   "s.psn.5.tmp", "stderr", "stdout", "t.psn", "t.psn.toml"}));
  ::close(written);
}

TEST_F(ResumeCommands, StoppedByTimeOrBySignal) {
  const std::string expected = uninterrupted();
  leave_unfinished();
  EXPECT_FALSE(fs::exists(folder_ / "s.psn"));
  const auto result = json("train --config whole.psn.toml --out s.psn --max-time 0.01s --resume");
  EXPECT_FALSE(result["finished"].get<bool>());
  EXPECT_GT(json("simulate s.checkpoint.psn -n 100")["addresses"].get<int>(), 5);
  // As soon as there is something to lose.
  for (const auto& [signal, name] :
       {std::pair(SIGINT, "t"), std::pair(SIGTERM, "u"), std::pair(SIGHUP, "v")}) {
    const std::string other =
        std::string(kTrain) + "--out " + name + ".psn --checkpoint-every 0 --resume";
    const int code = stopped(other, signal, [&, file = std::string(name) + ".checkpoint.psn"] {
      wait_until([&] { return fs::exists(folder_ / file); });
    });
    EXPECT_EQ(code, 130) << name;
    EXPECT_NE(slurp(folder_ / "err").find("updates: --resume goes on from there"),
              std::string::npos)
        << slurp(folder_ / "err");
  }
  for (const std::string name : {"s", "t", "u", "v"}) {
    EXPECT_EQ(psn(std::string(kTrain) + "--out " + name + ".psn --resume").code, 0);
    EXPECT_TRUE(slurp(folder_ / (name + ".psn")) == expected);
  }
}

TEST_F(ResumeCommands, OnlyTheSameTrainingIsResumed) {
  leave_unfinished();
  const std::string before = slurp(folder_ / "s.checkpoint.psn");
  const std::string again = std::string(kTrain) + "--out s.psn ";
  expect_error(again, 64, "'s.checkpoint.psn' is a training that did not finish");
  expect_error(again + "--resume --seed 2", 64, "another --seed: 1, now 2");
  expect_error(again + "--resume --learning-rate 0.5", 64,
               "another --learning-rate: 0.002, now 0.5");
  expect_error(again + "--resume --lstm_dim 9", 64, "another --lstm-dim");
  expect_error("train surrogate gaussian --out s.psn --resume --quiet", 64, "another --");
  expect_error(again + "--max-time 4d", 64, "4h");
  EXPECT_TRUE(slurp(folder_ / "s.checkpoint.psn") == before);
  EXPECT_EQ(psn(again + "--resume --max-time 4h").code, 0);
}

TEST_F(ResumeCommands, DamagedCheckpointsAreOneLine) {
  leave_unfinished();
  const fs::path path = folder_ / "s.checkpoint.psn", best = folder_ / "s.checkpoint.best.psn";
  const std::string good = slurp(path), resume = std::string(kTrain) + "--out s.psn --resume";
  const auto write = [&](const std::string& bytes) {
    std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<long>(bytes.size()));
  };
  for (const std::size_t at : {std::size_t{0}, good.size() / 3, good.size() - 5}) {
    write(good.substr(0, at));
    expect_error(resume, 65, "'s.checkpoint.psn'");
    std::string flipped = good;
    flipped[at] ^= 1;
    write(flipped);
    expect_error(resume, 65, "'s.checkpoint.psn'");
    EXPECT_TRUE(slurp(path) == flipped);
  }
  write(good);
  fs::resize_file(best, fs::file_size(best) - 1);
  expect_error(resume, 65, "'s.checkpoint.best.psn'");
}

// Where nothing can be written the checkpoint before stays as it was.
TEST_F(ResumeCommands, FullDisksAndReadOnlyFolders) {
  leave_unfinished();
  const std::string before = slurp(folder_ / "s.checkpoint.psn");
  const auto in_shell = [&](const std::string& prefix, const std::string& arguments) {
    const std::string command = "cd '" + folder_.string() + "' && " + prefix +
                                " '" PSN_PROGRAM "' " + arguments + " >/dev/null 2>/tmp/psn_err_" +
                                std::to_string(::getpid());
    const int status = std::system(("sh -c \"" + command + "\"").c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  };
  const fs::path err = "/tmp/psn_err_" + std::to_string(::getpid());
  const std::string resume = std::string(kTrain) + "--out s.psn --checkpoint-every 0 --resume";
  // A limit on the size of files is what a full disk is to a process that ignores the signal.
  EXPECT_EQ(in_shell("trap '' XFSZ; ulimit -f 8;", resume), 65);
  EXPECT_NE(slurp(err).find("cannot write 's.checkpoint"), std::string::npos) << slurp(err);
  EXPECT_TRUE(slurp(folder_ / "s.checkpoint.psn") == before);
  for (const auto& entry : fs::directory_iterator(folder_)) {
    EXPECT_NE(entry.path().extension(), ".tmp");
  }
  fs::permissions(folder_, fs::perms::owner_read | fs::perms::owner_exec);
  const bool root = ::geteuid() == 0;  // whom no permissions bind
  EXPECT_EQ(in_shell(root ? "setpriv --bounding-set -dac_override" : "", resume), 65);
  EXPECT_NE(slurp(err).find("cannot be written to"), std::string::npos) << slurp(err);
  fs::permissions(folder_, fs::perms::owner_all);
  EXPECT_TRUE(slurp(folder_ / "s.checkpoint.psn") == before);
  fs::remove(err);
}

// Whatever was lost or written twice on the way, the log has every row once.
TEST_F(ResumeCommands, LogsGoOn) {
  const std::string how = "--out s.psn --log l ";
  EXPECT_EQ(psn(std::string(kTrain) + "--out whole.psn --log whole").code, 0);
  leave_unfinished("--log l");
  std::ofstream(folder_ / "l" / "progress.csv", std::ios::app) << "99,1,1,1,1,1,1,1\n100,1";
  EXPECT_EQ(psn(std::string(kTrain) + how + "--resume").code, 0);
  const auto updates = [&](const char* name) {
    std::ifstream in(folder_ / name / "progress.csv");
    std::vector<std::string> result;
    for (std::string line; std::getline(in, line);) {
      result.push_back(line.substr(0, line.find(',')));
      EXPECT_EQ(std::count(line.begin(), line.end(), ','), 12) << line;
    }
    return result;
  };
  EXPECT_EQ(updates("l"), updates("whole"));
  EXPECT_EQ(updates("l").size(), 102u);  // a header, 100 batches, the end
  // Of each half its events; progress.csv, training.json, summary.json and report.html of both.
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "l"), {}), 6);
  fs::remove(folder_ / "s.psn");
  expect_error(std::string(kTrain) + how, 64, "'l' has the log of another training");
}

TEST_F(ResumeCommands, LearningOnFromATrainedNetwork) {
  const std::string how = " --batch_size 64 --seed 2 --validation 500 ", on = how + "--from s.psn";
  const auto kl = [&](const std::string& arguments) {
    return json("train surrogate gaussian" + arguments)["validation"]["kl_nats_per_trace"]
        .get<double>();
  };
  kl(" --out s.psn --traces 6400 --lstm_dim 8" + how);
  const double fresh = kl(" --out f.psn --traces 640 --lstm_dim 8" + how);
  EXPECT_LT(kl(" --out t.psn --traces 640" + on), fresh / 4);
  EXPECT_EQ(json("inspect t.psn")["config"]["lstm_dim"], 8);
  EXPECT_NE(slurp(folder_ / "t.psn.toml").find("lstm_dim = 8"), std::string::npos);
  // Another model: what it has is added to what was there.
  json("train surrogate control-flow --out u.psn --traces 640" + on);
  const auto nodes = json("inspect u.psn")["nodes"];
  EXPECT_EQ(nodes[2]["name"], "mu");
  EXPECT_GT(nodes.size(), json("inspect t.psn")["nodes"].size());
  expect_error("train inference gaussian --out v.psn --from s.psn", 64, "'s.psn' is a surrogate");
  expect_error("train surrogate gaussian --lstm_dim 9 --out v.psn --from s.psn", 64,
               "--lstm_dim 9: the network that is given has 8");
}

}  // namespace
}  // namespace psn
