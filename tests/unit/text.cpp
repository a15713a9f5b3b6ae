#include "psn/base/text.h"

#include <gtest/gtest.h>

#include <vector>

namespace psn {
namespace {

TEST(Text, NearestIsASlipAway) {
  const std::vector<std::string> words{"--observe", "--seed", "--chains"};
  EXPECT_EQ(nearest("--obsreve", words), "--observe");
  EXPECT_EQ(nearest("--sed", words), "--seed");
  EXPECT_EQ(nearest("--something-else", words), "");
  EXPECT_EQ(suggestion("--chain", words), "; did you mean '--chains'?");
  EXPECT_EQ(suggestion("zzzzzz", words), "");
}

}  // namespace
}  // namespace psn
