// psn run as a command in a folder of its own.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>

namespace psn::test {

namespace fs = std::filesystem;

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

  // psn in a process of its own, with its output in the files `out` and `err`; ended by a signal
  // once `when` returns. Its exit code; -1 if the signal ended it at once.
  template <class When>
  int stopped(const std::string& arguments, int signal, When when) const {
    const pid_t child = ::fork();
    if (child == 0) {
      const std::string command =
          "cd '" + folder_.string() + "' && exec '" PSN_PROGRAM "' " + arguments + " >out 2>err";
      ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
      ::_exit(127);
    }
    when();
    ::kill(child, signal);
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  // Until the condition holds; a test that waits in vain ends by its own time limit.
  template <class Condition>
  static void wait_until(Condition condition) {
    while (!condition()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  static void wait(int milliseconds) {
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
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

}  // namespace psn::test
