// Servers in three languages with several engines at once, with engines that vanish, and with
// whatever else may arrive at an open port.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <future>
#include <zmq.hpp>

#include "experiments/reference/reference.h"
#include "psn/core/in_process.h"
#include "psn/infer/importance.h"
#include "psn/ppx/remote.h"
#include "psn/ppx/socket.h"
#include "tests/protocol/describe.h"
#include "tests/protocol/served.h"

namespace psn::ppx {
namespace {

// What a run of importance sampling gives, to the bit.
std::string results(Simulator& simulator, std::uint64_t seed, std::uint64_t samples = 60) {
  EngineOptions options;
  options.samples = samples;
  options.seed = seed;
  options.keep_traces = true;
  std::string text;
  const Posterior posterior = importance_sampling(simulator, {}, options);
  for (const Trace& trace : posterior.traces()) {
    text += fmt::format("{:a} {}\n", trace.log_weight, trace.result.text());
  }
  return text;
}
std::string local_results(std::uint64_t seed) {
  InProcess local(reference::hmm());
  return results(local, seed);
}
std::string remote_results(const std::string& endpoint, std::uint64_t seed) {
  RemoteSimulator remote("ppx+" + endpoint, {.message_limit = 300});
  return results(remote, seed);
}

// An engine without manners.
class Socket {
 public:
  Socket(const std::string& endpoint, zmq::socket_type type = zmq::socket_type::req)
      : socket_(context_, type) {
    socket_.set(zmq::sockopt::linger, 0);
    socket_.set(zmq::sockopt::rcvtimeo, 120'000);
    socket_.connect(endpoint);
  }
  void send(const std::vector<std::string>& frames) {
    for (std::size_t i = 0; i < frames.size(); ++i) {
      socket_.send(zmq::buffer(frames[i]),
                   i + 1 < frames.size() ? zmq::send_flags::sndmore : zmq::send_flags::none);
    }
  }
  void send(const Message& message) {
    Encoder encoder(ScalarShape::kOne);
    const auto bytes = encoder.encode(message);
    send({std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size())});
  }
  std::string hear() {
    zmq::message_t reply;
    if (!socket_.recv(reply, zmq::recv_flags::none)) return "silence";
    return describe(decode({static_cast<const std::byte*>(reply.data()), reply.size()}));
  }
  std::string ask(const auto& message) {
    send(message);
    return hear();
  }

 private:
  zmq::context_t context_;
  zmq::socket_t socket_;
};

// A connection without ZeroMQ; it may end with a reset.
class Connection {
 public:
  explicit Connection(int port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    const timeval limit{60, 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  }
  ~Connection() { ::close(fd_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  bool connected() const { return connected_; }
  void send(const std::string& bytes) {
    (void)!::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  bool hear(std::size_t bytes) {
    std::string buffer(bytes, '\0');
    return ::recv(fd_, buffer.data(), bytes, MSG_WAITALL) == static_cast<ssize_t>(bytes);
  }
  // By the other side; waits for it.
  bool closed() {
    char byte = 0;
    ssize_t got = 1;
    while (got > 0) got = ::recv(fd_, &byte, 1, 0);
    return got == 0 || errno == ECONNRESET;
  }
  void reset_at_end() {
    const linger at_once{1, 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  }

 private:
  int fd_;
  bool connected_ = false;
};

// A process that serves the hidden Markov model at a port of this machine.
class ServerProcess {
 public:
  explicit ServerProcess(const std::string& language) : port_(free_port()) {
    std::vector<std::string> words{language == "c" ? PSN_PEER_C : PSN_PEER};
    if (language == "python") words = {PSN_PYTHON, PSN_PEER_PY};
    words.insert(words.end(), {"hmm", endpoint()});
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::setenv("PYTHONPATH", PSN_PYTHONPATH, 1);
      ::execv(arguments[0], arguments.data());
      ::_exit(127);
    }
    // An engine gives up after five seconds, which a Python on a busy machine may take to start.
    for (int tries = 0; tries < 600 && !Connection(port_).connected(); ++tries) ::usleep(100'000);
  }
  ~ServerProcess() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;
  int port() const { return port_; }
  std::string endpoint() const { return fmt::format("tcp://127.0.0.1:{}", port_); }

 private:
  int port_;
  pid_t pid_ = -1;
};

// ZMTP 3.1 without security, as a DEALER.
const std::string kSignature("\xff\0\0\0\0\0\0\0\1\x7f", 10);
const std::string kGreeting = kSignature + std::string("\3\1NULL", 6) + std::string(48, '\0');
const std::string kReady("\4\x1c\5READY\x0bSocket-Type\0\0\0\6DEALER", 30);
const std::string kSecureGreeting =
    kSignature + std::string("\3\1CURVE", 7) + std::string(47, '\0');
constexpr std::size_t kGreetingSize = 64;

int port_of(const std::string& endpoint) {
  return std::stoi(endpoint.substr(endpoint.rfind(':') + 1));
}

class Servers : public testing::TestWithParam<std::string> {
 protected:
  const ServerProcess server_{GetParam()};
};

// Before, an answer to one was taken for the other's.
TEST_P(Servers, GiveEachEngineRunsOfItsOwn) {
  std::vector<std::future<std::string>> engines;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    engines.push_back(std::async(std::launch::async, remote_results, server_.endpoint(), seed));
  }
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    EXPECT_EQ(engines[seed - 1].get(), local_results(seed)) << "engine " << seed;
  }
}

TEST_P(Servers, GoOnWhenAnEngineVanishes) {
  const std::string first_request =
      "Sample 'x_0' 'x_0' Categorical(probs=[0.3333333333333333, 0.3333333333333333, "
      "0.3333333333333333]) controlled";
  Socket present(server_.endpoint());
  {
    Socket vanishing(server_.endpoint());
    EXPECT_EQ(vanishing.ask(ppx::Run{}), first_request);
    present.send(ppx::Run{});
  }
  EXPECT_EQ(present.hear(), first_request);
  EXPECT_EQ(present.ask(Handshake{"psn 0"}).substr(0, 15), "HandshakeResult");
  EXPECT_EQ(remote_results(server_.endpoint(), 1), local_results(1));
}

TEST_P(Servers, SurviveOddMessages) {
  Socket engine(server_.endpoint());
  EXPECT_EQ(engine.ask(std::vector<std::string>{"two", "frames"}), "Reset");
  EXPECT_EQ(engine.ask(std::vector<std::string>{"", "", "", "", "", ""}), "Reset");
  EXPECT_EQ(engine.ask(std::vector<std::string>{""}), "Reset");
  EXPECT_EQ(engine.ask(std::vector<std::string>{std::string(100'000, '\xff')}), "Reset");
  EXPECT_EQ(engine.ask(SampleResult{Value(1.0)}), "Reset");
  engine.ask(ppx::Run{});
  EXPECT_EQ(engine.ask(SampleResult{Value(1e9)}), "Reset");  // there is no such category
  Socket dealer(server_.endpoint(), zmq::socket_type::dealer);
  for (const std::vector<std::string>& frames :
       {std::vector<std::string>{"no delimiter"}, {"neither", "here", "nor there"}, {""}}) {
    dealer.send(frames);
  }
  EXPECT_EQ(remote_results(server_.endpoint(), 1), local_results(1));
}

// False if nobody listens any more.
bool throw_noise_at(int port) {
  Rng rng(1);
  const auto noise = [&](std::size_t size) {
    std::string bytes;
    while (bytes.size() < size) bytes += static_cast<char>(rng.bits());
    return bytes;
  };
  // Nonsense; versions 1 and 2, where anything may be a message; version 3, then nonsense.
  const std::string beginnings[] = {"",        std::string("\1\0\2\1x", 5), kSignature + '\1',
                                    kGreeting, kGreeting + kReady,          kSecureGreeting};
  for (std::size_t i = 0; i < 200; ++i) {
    Connection stranger(port);
    if (!stranger.connected()) return false;
    stranger.send(beginnings[i % std::size(beginnings)] + noise(rng.below(1'000)));
    if (rng.below(2) == 0) stranger.reset_at_end();
  }
  return true;
}

TEST_P(Servers, SurviveRawBytes) {
  EXPECT_EQ(remote_results(server_.endpoint(), 1), local_results(1));
  EXPECT_TRUE(throw_noise_at(server_.port()));
  EXPECT_EQ(remote_results(server_.endpoint(), 1), local_results(1));
}

TEST_P(Servers, CutAFloodOff) {
  EXPECT_EQ(remote_results(server_.endpoint(), 1), local_results(1));
  Connection stranger(server_.port());
  stranger.send(kGreeting);
  EXPECT_TRUE(stranger.hear(kGreetingSize));
  stranger.send(kReady);
  const std::string message("\1\0\0\1x", 5);
  for (int i = 0; i < 1'000; ++i) stranger.send(message);
  EXPECT_TRUE(stranger.closed());
  EXPECT_EQ(remote_results(server_.endpoint(), 1), local_results(1));
}

INSTANTIATE_TEST_SUITE_P(All, Servers, testing::Values("cpp", "c", "python"),
                         [](const auto& chosen) { return chosen.param; });

TEST(Server, WithKeysSurvivesRawBytes) {
  const KeyPair keys = make_key_pair();
  const Served server(reference::hmm(), {keys, {}});
  EXPECT_TRUE(throw_noise_at(port_of(server.endpoint())));
  RemoteSimulator remote("ppx+" + server.endpoint(), {.keys = {keys.public_key, {}}});
  EXPECT_EQ(results(remote, 1), local_results(1));
}

// libzmq 4.3.4 aborts if a peer resets its connection while more lies in the queue than it takes,
// with a PING behind.
TEST(Server, SurvivesAPingBehindALongQueue) {
  std::promise<void> busy, release;
  std::atomic<bool> first{true};
  const Served server(Model("m", [&](Context& ctx) {
    if (first.exchange(false)) {
      busy.set_value();
      release.get_future().wait();
    }
    ctx.sample(Normal(0, 1), {.name = "x"});
  }));
  const std::string& endpoint = server.endpoint();
  EXPECT_EQ(endpoint.find("tcp://127.0.0.1:"), 0u) << endpoint;
  const int port = port_of(endpoint);
  Socket engine(endpoint);
  engine.send(ppx::Run{});
  busy.get_future().wait();       // from now on nobody reads
  for (int i = 0; i < 10; ++i) {  // one alone would abort it every other time
    Connection stranger(port);
    stranger.send(kGreeting);
    EXPECT_TRUE(stranger.hear(kGreetingSize));
    stranger.send(kReady);
    EXPECT_TRUE(stranger.hear(20));
    const std::string message("\1\0\0\1x", 5), ping("\4\7\4PING\0\0", 9);
    std::string flood;
    for (int k = 0; k < 1'005; ++k) flood += message;
    for (int k = 0; k < 200; ++k) flood += message + ping;
    stranger.send(flood);
    EXPECT_TRUE(Connection(port).hear(10));  // by then the flood has been read
    stranger.reset_at_end();
  }
  EXPECT_TRUE(Connection(port).hear(10));  // and the end been seen
  release.set_value();
  EXPECT_EQ(engine.hear().substr(0, 10), "Sample 'x'");
  // Each in turn: by the end the queue has been read.
  bool answers = true;
  for (int i = 0; i < 2'000 && answers; ++i) {
    answers = engine.ask(ppx::Run{}).substr(0, 10) == "Sample 'x'";
  }
  EXPECT_TRUE(answers);
}

}  // namespace
}  // namespace psn::ppx
