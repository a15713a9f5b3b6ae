// Models that ask for more than numbers, stacks or files hold: told by address, in one line.
#include <csignal>

#include "tests/cli/command_test.h"

namespace psn {
namespace {

class LimitCommands : public test::CommandTest {
 protected:
  static std::string plugin(const std::string& fault) {
    return "'" PSN_PLUGIN_DIR "/libbroken_" + fault + ".so'";
  }
};

TEST_F(LimitCommands, AnInfiniteDrawIsTheModelsError) {
  for (const std::string command : {"simulate ", "infer ", "graph ", "data generate --out s "}) {
    expect_error(command + plugin("infinite") + " -n 100", 70,
                 "address 'wait__Exponential__1': drew inf, which has no density under "
                 "Exponential(rate=1e-308)");
  }
}

TEST_F(LimitCommands, AnOverflowOfTheStackNamesModelAndOption) {
  expect_error("simulate " + plugin("overflows") + " -n 10 --threads 1", 70,
               "model 'broken', trace 0, after 'mu__Normal__1': its stack of 256 KiB is too small; "
               "give it more with --stack-size");
  for (const std::string command : {"simulate ", "infer ", "data generate --out s "}) {
    expect_error(command + plugin("overflows") + " -n 100 --threads 2 --stack-size 128", 70,
                 ": its stack of 128 KiB is too small; give it more with --stack-size");
  }
  expect_error("train surrogate " + plugin("overflows") + " --stack-size 128 --out t.psn", 70,
               ": its stack of 128 KiB is too small; give it more with --stack-size");
}

// The first of many simulations side by side whose frame leaps over the end of its stack is found
// out, before it destroys the stack of another.
TEST_F(LimitCommands, ALeapOverTheEndOfTheStackIsFoundOut) {
  const std::string run = "simulate " + plugin("leaps") + " --threads 1 --width 64 --json --quiet ";
  EXPECT_EQ(psn(run + "-n 100 --stack-size 4096").err, "");
  expect_error(run + "-n 100", 70, "after 'mu__Normal__1': its stack of 256 KiB is too small");
}

TEST_F(LimitCommands, AProgramThatEndsTheProcessIsNamed) {
  for (const std::string command : {"simulate ", "infer ", "data generate --out s "}) {
    expect_error(command + plugin("exits") + " -n 10 --threads 1", 70,
                 "model 'broken', trace 0, after 'mu__Normal__1': ended the process with exit()");
  }
}

TEST_F(LimitCommands, ACrashSaysWhereAndDiesOfItsSignal) {
  const auto crashed = psn("simulate " + plugin("crashes") + " -n 1 --threads 1");
  EXPECT_EQ(crashed.code, 128 + SIGSEGV);
  EXPECT_TRUE(crashed.err.starts_with(
      "psn: error: model 'broken', trace 0, after 'mu__Normal__1': crashed (SIGSEGV)\n"))
      << crashed.err;
}

// What is written can be read: at once, or it is refused by address.
TEST_F(LimitCommands, WhatIsGeneratedCanBeRead) {
  EXPECT_EQ(psn("data generate " + plugin("weights") + " -n 50 --out s --quiet").code, 0);
  EXPECT_EQ(psn("data verify s").code, 0) << psn("data verify s").err;
  EXPECT_EQ(psn("data export s --out s.csv").code, 0);
  const auto refused = [&](const std::string& fault, const std::string& message) {
    expect_error("data generate " + plugin(fault) + " -n 50 --out " + fault, 64, message);
    const auto verified = psn("data verify " + fault);
    EXPECT_EQ(verified.code, 0) << verified.err;
  };
  refused("name", "trace 0: address 'nnn");
  refused("name", "(100011 bytes)' cannot be stored: a text of 100000 bytes; 65536 at most");
  refused("dimensions", "trace 0: address 'cube__Normal[1,1,");
  refused("dimensions", "cannot be stored: a value of 40 dimensions; 32 at most");
}

TEST_F(LimitCommands, WhatNoNetworkTakesIsToldByAddress) {
  expect_error("train surrogate " + plugin("dimensions") + " --traces 64 --out t.psn --quiet", 64,
               "a value of 40 dimensions; a network takes 16 at most");
  EXPECT_EQ(psn("train surrogate " + plugin("name") +
                " --traces 64 --lstm_dim 4 --validation 0 --out t.psn --quiet")
                .code,
            0);
  EXPECT_EQ(psn("inspect t.psn").code, 0);
}

TEST_F(LimitCommands, TheMapOfAStoreHasAnOptionAndFitsTheProcess) {
  EXPECT_EQ(psn("data generate gaussian -n 1000 --out s --quiet", "ulimit -v 2000000; ").code, 0);
  const auto verified = psn("data verify s", "ulimit -v 2000000; ");
  EXPECT_EQ(verified.code, 0) << verified.err;
  json("data generate gaussian -n 500 --out whole");
  EXPECT_EQ(psn("data verify whole", "ulimit -v 2000000; ").code, 0);
  expect_error("data generate composite-cure -n 2000 --out small --map-size 0.002", 65,
               "it is as large as it may become (psn data generate --map-size)");
  EXPECT_EQ(psn("data verify small").code, 0);
}

}  // namespace
}  // namespace psn
