// Files that psn wrote before families and cores were lists (commit 1bee500): a store of traces, a
// surrogate, and the checkpoint of its training after two of six batches. They load, and mean what
// they meant.
#include <gtest/gtest.h>

#include "psn/data/store.h"
#include "psn/nn/network_file.h"
#include "psn/nn/run/evaluate.h"
#include "tests/cli/command_test.h"

namespace psn {
namespace {

using namespace test;

class OldFiles : public CommandTest {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    fs::copy(PSN_SOURCE "/tests/cli/old", folder_, fs::copy_options::recursive);
  }

  // That the traces of the store have the densities under it that they had then.
  void expect_densities(const std::string& surrogate) const {
    const auto network = load_network((folder_ / surrogate).string()).network;
    data::StoreReader store((folder_ / "store").string());
    std::istringstream densities(slurp(folder_ / "densities"));
    double then = 0;
    std::uint64_t trace = 0;
    for (; densities >> then; ++trace) {
      const double now = log_prob(*network, store.read(trace), UnknownEvaluation::kZero);
      // Sums of single-precision numbers, in the order of the machine's vectors.
      EXPECT_NEAR(now, then, 1e-4 * (1 + std::abs(then))) << surrogate << ", trace " << trace;
    }
    EXPECT_EQ(trace, store.size());
  }
};

TEST_F(OldFiles, AStoreHasTheSameTraces) {
  EXPECT_EQ(json("data verify store")["traces"], 24);
  ASSERT_EQ(psn("data export store --out traces.csv").code, 0);
  EXPECT_EQ(slurp(folder_ / "traces.csv"), slurp(folder_ / "exported.csv"));
}

TEST_F(OldFiles, ASurrogateGivesTheSameDensities) {
  expect_densities("finished.psn");
  EXPECT_EQ(psn("simulate finished.psn -n 100").code, 0);
}

// With the options that it was begun with: there was no tally then, nothing was recalled, and other
// defaults were the best.
TEST_F(OldFiles, AnUnfinishedTrainingGoesOnToTheSameSurrogate) {
  const auto resumed =
      psn("train surrogate --config old.toml --tally none --recall 0 --clip-norm 0 "
          "--learning-rate 0.004 --out old.psn --resume");
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  expect_densities("old.psn");
}

}  // namespace
}  // namespace psn
