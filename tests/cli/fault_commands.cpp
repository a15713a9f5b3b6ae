// Calls that fail, one at a time, wherever commands write: a full disk, a broken one, a signal at
// the wrong moment, no memory. Each ends in success or in one line with a code of its own, and
// leaves nothing damaged behind: the same command then does its work.
#include <set>

#include "tests/cli/command_test.h"

namespace psn {
namespace {

namespace fs = std::filesystem;
using test::Outcome;
using test::slurp;

struct Fault {
  std::string call, error;
  bool goes_on = false;
};

class FaultCommands : public test::CommandTest {
 protected:
  // `place` 0: nothing fails.
  Outcome with_fault(const std::string& command, const Fault& fault, long place) const {
    const std::string wish =
        fault.call + "," + std::to_string(place) + "," + fault.error + (fault.goes_on ? ",on" : "");
    return psn(command, "LD_PRELOAD='" PSN_FAULTS "' PSN_FAULT=" + wish + " PSN_FAULT_COUNT=../" +
                            count_file() + " ");
  }
  std::string count_file() const { return folder_.filename().string() + ".count"; }

  // The calls that the command makes when nothing fails.
  long calls(const std::string& command, const Fault& fault) const {
    const Outcome outcome = with_fault(command, fault, 0);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    const fs::path file = folder_.parent_path() / count_file();
    const long count = std::stol("0" + slurp(file));
    fs::remove(file);
    return count;
  }

  void clean() const {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }

  static void expect_one_line(const Outcome& outcome, const std::set<int>& codes) {
    EXPECT_TRUE(codes.contains(outcome.code)) << outcome.code << ": " << outcome.err;
    if (outcome.code == 0) return;
    EXPECT_TRUE(outcome.err.starts_with("psn: error: ")) << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }

  void expect_no_leftovers() const {
    for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
      const std::string name = entry.path().filename();
      EXPECT_EQ(name.find(".tmp"), name.npos) << name;
    }
  }

  // Lets the command fail at `places` of its calls, evenly spread, each time in an empty folder;
  // `check` looks at what is left, and whether the same command, undisturbed, makes it good.
  // Returns how many of the runs ended with an error.
  template <class Check>
  int disturb(const std::string& command, const Fault& fault, long places,
              const std::set<int>& codes, Check check) const {
    SCOPED_TRACE(command + " with " + fault.error + " of " + fault.call);
    clean();
    const long count = calls(command, fault);
    EXPECT_GT(count, 0);
    places = std::min(places, count);
    int errors = 0;
    for (long i = 0; i < places; ++i) {
      const long place = places == 1 ? count : 1 + i * (count - 1) / (places - 1);
      SCOPED_TRACE("call " + std::to_string(place) + " of " + std::to_string(count));
      clean();
      const Outcome outcome = with_fault(command, fault, place);
      fs::remove(folder_.parent_path() / count_file());
      expect_one_line(outcome, codes);
      if (fault.call != "alloc") expect_no_leftovers();  // to tidy up takes memory
      check(outcome);
      errors += outcome.code != 0;
      if (HasFailure()) break;
    }
    return errors;
  }
};

const std::vector<Fault>& disk_faults() {
  static const std::vector<Fault> faults{
      {"write", "ENOSPC", true}, {"write", "EIO"},  {"write", "EINTR"}, {"sync", "EIO", true},
      {"sync", "EINTR"},         {"rename", "EIO"}, {"open", "EIO"},    {"map", "ENOMEM"}};
  return faults;
}

TEST_F(FaultCommands, GenerateKeepsWhatWasCommitted) {
  const std::string command =
      "data generate gaussian -n 300 --threads 1 --commit-every 0 --out s --quiet";
  clean();
  ASSERT_EQ(psn(command).code, 0);
  ASSERT_EQ(psn("data export s --out all.csv").code, 0);
  const std::string all = slurp(folder_ / "all.csv");
  int errors = 0;
  for (const Fault& fault : disk_faults()) {
    errors += disturb(command, fault, 6, {0, 65}, [&](const Outcome&) {
      if (fs::exists(folder_ / "s")) {
        const Outcome verified = psn("data verify s");
        EXPECT_EQ(verified.code, 0) << verified.err;
      }
      const Outcome again = psn(command);
      EXPECT_EQ(again.code, 0) << again.err;
      EXPECT_EQ(psn("data export s --out all.csv").code, 0);
      EXPECT_EQ(slurp(folder_ / "all.csv"), all);
    });
    if (HasFailure()) return;
  }
  EXPECT_GT(errors, 10);
}

TEST_F(FaultCommands, TrainingLeavesAWholeNetworkOrNone) {
  const std::string command =
      "train surrogate gaussian --traces 512 --batch_size 64 --lstm_dim 4 --validation 64 "
      "--out t.psn --quiet";
  int errors = 0;
  for (const Fault& fault : disk_faults()) {
    if (fault.call == "map") continue;  // it maps no file
    errors += disturb(command, fault, 4, {0, 65}, [&](const Outcome& outcome) {
      if (fs::exists(folder_ / "t.psn")) {
        const Outcome inspected = psn("inspect t.psn");
        EXPECT_EQ(inspected.code, 0) << inspected.err;
      } else {
        EXPECT_NE(outcome.code, 0);
      }
    });
    if (HasFailure()) return;
  }
  EXPECT_GT(errors, 3);
}

TEST_F(FaultCommands, InferLeavesReadableResultsOrNone) {
  const std::string command =
      "infer gaussian -n 200 --observe obs0=1 --observe obs1=2 --threads 1 --out r --quiet";
  int errors = 0;
  for (const Fault& fault : disk_faults()) {
    if (fault.call == "map") continue;
    errors += disturb(command, fault, 4, {0, 65}, [&](const Outcome&) {
      fs::remove_all(folder_ / "r");
      EXPECT_EQ(psn(command).code, 0);
    });
    if (HasFailure()) return;
  }
  EXPECT_GT(errors, 3);
}

TEST_F(FaultCommands, NoMemoryIsOneLine) {
  const auto look = [&](const Outcome&) {
    if (fs::exists(folder_ / "s")) {
      EXPECT_EQ(psn("data verify s").code, 0);
    }
    if (fs::exists(folder_ / "t.psn")) {
      EXPECT_EQ(psn("inspect t.psn").code, 0);
    }
  };
  const std::set<int> codes{0, 64, 65, 70, 71};
  int errors = 0;
  for (const std::string command :
       {"simulate gaussian -n 50 --threads 1 --quiet",
        "infer gaussian -n 50 --observe obs0=1 --observe obs1=2 --threads 1 --out r --quiet",
        "data generate gaussian -n 50 --threads 1 --out s --quiet"}) {
    // One allocation fails, or all from some moment on.
    errors += disturb(command, {"alloc", "ENOMEM"}, 12, codes, look);
    errors += disturb(command, {"alloc", "ENOMEM", true}, 12, codes, look);
    if (HasFailure()) return;
  }
  errors += disturb(
      "train surrogate gaussian --traces 128 --lstm_dim 4 --validation 0 --out t.psn --quiet",
      {"alloc", "ENOMEM"}, 12, codes, look);
  EXPECT_GT(errors, 20);
}

}  // namespace
}  // namespace psn
