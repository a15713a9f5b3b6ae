// Commands of the documentation, as a newcomer would type them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <regex>
#include <sstream>

#include "tests/cli/command_test.h"

namespace psn {
namespace {

using test::Outcome;

using Readme = test::CommandTest;

// Every `psn ...` line of the README's code blocks.
TEST_F(Readme, CommandsWork) {
  std::istringstream readme(test::slurp(std::filesystem::path(PSN_SOURCE) / "README.md"));
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

// The howto on other languages: its listings are what the examples hold, its commands build them
// and all give the posterior that it promises.
TEST_F(Readme, AttachASimulator) {
  namespace fs = std::filesystem;
  const fs::path source = PSN_SOURCE;
  for (const char* part : {"examples", "psn", "python"}) {
    fs::create_directory_symlink(source / part, folder_ / part);
  }
  const fs::path program = PSN_PROGRAM;
  fs::create_directory_symlink(program.parent_path().parent_path(), folder_ / "build");

  const std::string text = test::slurp(source / "docs/howto/attach-a-simulator.md");
  const std::regex listing("`(examples/[^`]*)`:\n\n```[a-z]+\n([^`]*)```");
  int listings = 0;
  for (std::sregex_iterator at(text.begin(), text.end(), listing), end; at != end; ++at) {
    const std::string example = test::slurp(source / at->str(1));
    EXPECT_NE(example.find(at->str(2)), std::string::npos) << at->str(1);
    ++listings;
  }
  EXPECT_EQ(listings, 3);

  const std::regex commands("```sh\n([^`]*)```");
  const std::string port = std::to_string(20'000 + ::getpid() % 10'000);  // of this test alone
  int posteriors = 0;
  for (std::sregex_iterator at(text.begin(), text.end(), commands), end; at != end; ++at) {
    const std::string block = std::regex_replace(at->str(1), std::regex("5555"), port);
    const std::string whole =
        fmt::format("cd '{}' && {{ set -e\n{}}} >stdout 2>stderr", folder_.string(), block);
    EXPECT_EQ(std::system(whole.c_str()), 0) << block << test::slurp(folder_ / "stderr");
    const std::string out = test::slurp(folder_ / "stdout");
    std::smatch mean;
    ASSERT_TRUE(std::regex_search(out, mean, std::regex("mu +([0-9.]+)"))) << out;
    EXPECT_NEAR(std::stod(mean[1]), 7.25, 0.25) << block << out;
    ++posteriors;
  }
  EXPECT_EQ(posteriors, 5);
}

}  // namespace
}  // namespace psn
