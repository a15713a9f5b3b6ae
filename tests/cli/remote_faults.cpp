// Remote simulators that lie, fail or are not there, as a user meets them: one line, and exit
// code 70.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <thread>

#include "tests/cli/command_test.h"

namespace {

using RemoteFaults = psn::test::CommandTest;

// Whatever is wrong with a simulator, every command ends in one line that says it.
TEST_F(RemoteFaults, EndEveryCommandInOneLine) {
  for (const std::string fault : {"throw", "exit", "garbage", "step", "nan", "bars"}) {
    const std::string faulty = "'exec:" PSN_FAULTY " " + fault + " 1 {endpoint}'";
    const std::string words = fault == "throw"  ? "NameError: name 'mu' is not defined"
                              : fault == "bars" ? "999 % done | \\x1b[31mout of \\xffluck"
                                                : "its last output: about to misbehave";
    for (const std::string& command :
         {"simulate " + faulty + " -n 200", "infer " + faulty + " -n 200",
          "infer " + faulty + " --engine lmh -n 200", "graph " + faulty + " -n 200",
          "data generate " + faulty + " -n 200 --out store",
          "train surrogate " + faulty + " --traces 200 --out s.psn"}) {
      const auto outcome = psn(command);
      SCOPED_TRACE(command + "\n" + outcome.err);
      EXPECT_EQ(outcome.code, 70);
      EXPECT_TRUE(outcome.err.starts_with("psn: error: 3 runs of the simulator failed (3 "));
      EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1);
      EXPECT_NE(outcome.err.find(words), std::string::npos);
    }
  }
}

// The first program of many a user.
TEST_F(RemoteFaults, ANameErrorInPython) {
  std::ofstream(folder_ / "slip.py") << R"(
import sys
from psn import ppx
def program():
    mu = ppx.sample(ppx.Normal(0, 1), name="mu")
    return mu + sigma
ppx.serve(program, "slip", *sys.argv[1:])
)";
  const auto outcome =
      psn("infer 'exec:env PYTHONPATH=" PSN_SOURCE "/python " PSN_PYTHON " slip.py {endpoint}'");
  EXPECT_EQ(outcome.code, 70);
  EXPECT_TRUE(outcome.err.starts_with(
      "psn: error: 10 runs of the simulator failed (10 gave up), and none succeeded; trace "))
      << outcome.err;
  EXPECT_TRUE(outcome.err.ends_with("NameError: name 'sigma' is not defined\n")) << outcome.err;
}

// A port of this machine at which somebody listens, says something, and hangs up; or says nothing.
class Stranger {
 public:
  explicit Stranger(std::string words)
      : words_(std::move(words)), fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* any = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(fd_, any, size), 0);
    EXPECT_EQ(::getsockname(fd_, any, &size), 0);
    EXPECT_EQ(::listen(fd_, 100), 0);
    port_ = ntohs(address.sin_port);
    if (!words_.empty()) thread_ = std::thread([this] { talk(); });
  }
  ~Stranger() {
    ::shutdown(fd_, SHUT_RDWR);
    if (thread_.joinable()) thread_.join();
    ::close(fd_);
  }
  Stranger(const Stranger&) = delete;
  Stranger& operator=(const Stranger&) = delete;
  std::string address() const { return "ppx+tcp://127.0.0.1:" + std::to_string(port_); }

 private:
  void talk() {
    for (int peer = 0; (peer = ::accept(fd_, nullptr, nullptr)) >= 0; ::close(peer)) {
      if (::send(peer, words_.data(), words_.size(), MSG_NOSIGNAL) < 0) continue;
      std::array<char, 1000> heard;
      if (::recv(peer, heard.data(), heard.size(), 0) < 0) continue;
    }
  }

  std::string words_;
  int fd_, port_ = 0;
  std::thread thread_;
};

// It once took five minutes to say so.
TEST_F(RemoteFaults, NobodyAtTheAddress) {
  expect_error("infer ppx+tcp://127.0.0.1:1", 70,
               "ppx+tcp://127.0.0.1:1: nobody there within 4 s; is the simulator running");
  const Stranger mute(""), ssh("SSH-2.0-OpenSSH_9.2\r\n");
  expect_error("infer " + mute.address(), 70, mute.address() + ": nobody there within 4 s");
  expect_error("infer " + ssh.address(), 70, "the connection was lost");
  expect_error("infer tcp://127.0.0.1:5555", 64, "did you mean 'ppx+tcp://127.0.0.1:5555'?");
}

}  // namespace
