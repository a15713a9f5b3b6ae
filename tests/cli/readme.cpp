// The README's commands, as a newcomer would type them.
#include <gtest/gtest.h>

#include <sstream>

#include "tests/cli/command_test.h"

namespace psn {
namespace {

using testing::Outcome;

using Readme = testing::CommandTest;

// Every `psn ...` line of the README's code blocks.
TEST_F(Readme, CommandsWork) {
  std::istringstream readme(testing::slurp(std::filesystem::path(PSN_SOURCE) / "README.md"));
  int commands = 0;
  bool code = false;
  for (std::string line; std::getline(readme, line);) {
    if (line.starts_with("```")) code = !code;
    if (!code || !line.starts_with("build/bin/psn ")) continue;
    ++commands;
    const Outcome outcome = psn(line.substr(14));
    EXPECT_EQ(outcome.code, 0) << line << "\n" << outcome.err;
  }
  EXPECT_GE(commands, 5);
}

}  // namespace
}  // namespace psn
