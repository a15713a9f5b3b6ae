// psn run as a command in a folder of its own.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

namespace psn::testing {

struct Outcome {
  int code;
  std::string out, err;
};

inline std::string slurp(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

class CommandTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("psn_test_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // `launcher`: what comes before the program on the command line.
  Outcome psn(const std::string& arguments, const std::string& launcher = "") const {
    const std::filesystem::path out = folder_ / "stdout", err = folder_ / "stderr";
    const std::string command = "cd '" + folder_.string() + "' && " + launcher +
                                "'" PSN_PROGRAM "' " + arguments + " >'" + out.string() + "' 2>'" +
                                err.string() + "'";
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), slurp(out),
            slurp(err)};
  }

  nlohmann::json json(const std::string& arguments) const {
    const Outcome outcome = psn(arguments + " --json --quiet");
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    return nlohmann::json::parse(outcome.out);
  }

  // One line on stderr with this in it, nothing on stdout.
  void expect_error(const std::string& arguments, int code, const std::string& part) const {
    const Outcome outcome = psn(arguments);
    SCOPED_TRACE(arguments);
    EXPECT_EQ(outcome.code, code);
    EXPECT_EQ(outcome.out, "");
    EXPECT_TRUE(outcome.err.starts_with("psn: error: ")) << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err;
  }

  std::filesystem::path folder_;
};

}  // namespace psn::testing
