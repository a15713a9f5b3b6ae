// One trace of a million choices, each at an address of its own, goes through every command. What
// took the square of that would not end before the test is given up.
#include "tests/cli/command_test.h"

namespace psn {
namespace {

class LongTrace : public test::CommandTest {
 protected:
  void expect_success(const std::string& arguments) const {
    const auto outcome = psn(arguments);
    EXPECT_EQ(outcome.code, 0) << arguments << ": " << outcome.err;
  }
  const std::string model_ = "'" PSN_PLUGIN_DIR "/libbroken_long.so' ";
};

TEST_F(LongTrace, IsSimulated) {
  const auto made = json("simulate " + model_ + "-n 1 --out o");
  EXPECT_EQ(made["max_length"], 1'000'000);
  EXPECT_EQ(made["addresses"], 1'000'000);
}

TEST_F(LongTrace, IsInferred) {
  expect_success("infer " + model_ + "--observe x=1 -n 2 --out is");
  expect_success("infer " + model_ + "--observe x=1 -n 2 --chains 1 --engine lmh --out lmh");
}

TEST_F(LongTrace, IsPredicted) {
  expect_success("infer " + model_ + "--observe x=1 -n 2 --query mu --out posterior");
  expect_success("predict posterior -n 1");
}

TEST_F(LongTrace, IsDrawnAsAGraph) {
  expect_success("graph " + model_ + "-n 1");
  expect_success("graph " + model_ + "-n 1 --sites --json");
}

TEST_F(LongTrace, IsStored) {
  expect_success("data generate " + model_ + "-n 2 --out s");
  expect_success("data verify s");
  expect_success("data info s");
  expect_success("data export s --out s.csv");
  expect_success("data merge s --out merged");
}

TEST_F(LongTrace, IsLearned) {
  expect_success("train surrogate " + model_ +
                 "--traces 1 --batch_size 1 --validation 0 --lstm_dim 4 --out t.psn");
  expect_success("inspect t.psn");
  expect_success("compare " + model_ + "t.psn -n 1 --min-count 1");
}

}  // namespace
}  // namespace psn
