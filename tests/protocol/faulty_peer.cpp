// A simulator of one normal variable that lies, or worse, in every n-th run: ppx_faulty FAULT N
// ENDPOINT. On SIGUSR1 it sends garbage next, whatever the fault.
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>
#include <zmq.hpp>

#include "psn/base/numerics.h"
#include "psn/ppx/codec.h"

namespace {

using namespace psn;
using namespace psn::ppx;

volatile std::sig_atomic_t garble = 0;

[[noreturn]] void sleep_for_ever() {
  for (;;) std::this_thread::sleep_for(std::chrono::seconds(1));
}

// Not a REP socket, which would not lie: the envelope is put before each answer by hand.
class Peer {
 public:
  using Frames = std::vector<std::string>;

  Peer(std::string fault, int period, const char* endpoint)
      : fault_(std::move(fault)), period_(period) {
    socket_.bind(endpoint);
  }

  void serve() {
    for (;;) {
      if (!receive()) continue;
      const Message message = decode(std::as_bytes(std::span(request_)));
      if (std::holds_alternative<Handshake>(message)) {
        greet();
      } else if (std::holds_alternative<ppx::Run>(message)) {
        send(Sample{"x", "x", Normal(0, 1), true});
      } else if (std::holds_alternative<SampleResult>(message)) {
        end_run();
      } else {
        send(Reset{});
      }
    }
  }

 private:
  // A message: who sent it, the envelope up to an empty frame, the request.
  bool receive() {
    Frames frames;
    try {
      do {
        zmq::message_t frame;
        if (!socket_.recv(frame, zmq::recv_flags::none)) return false;
        frames.push_back(frame.to_string());
      } while (socket_.get(zmq::sockopt::rcvmore));
    } catch (const zmq::error_t&) {  // a signal
      return false;
    }
    request_ = frames.back();
    frames.pop_back();
    earlier_ = std::exchange(envelope_, std::move(frames));
    return true;
  }

  std::string bytes_of(const Message& message) {
    const auto bytes = encoder_.encode(message);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  void send(const Message& message) { send_bytes(envelope_, {bytes_of(message)}); }
  void send_bytes(Frames frames, const Frames& answer) {
    frames.insert(frames.end(), answer.begin(), answer.end());
    if (std::exchange(garble, 0)) frames.back() = "what is this?";
    for (std::size_t i = 0; i < frames.size(); ++i) {
      socket_.send(zmq::buffer(frames[i]),
                   i + 1 < frames.size() ? zmq::send_flags::sndmore : zmq::send_flags::none);
    }
  }

  void greet() {
    const std::string name = fault_ == "rename" ? fmt::format("model {}", ::getpid()) : "faulty";
    if (fault_ == "greet_never") return;
    if (fault_ == "greet_garbage") return send_bytes(envelope_, {"good day"});
    if (fault_ == "greet_frames") return send_bytes(envelope_, {"good", "day"});
    if (fault_ == "greet_step") return send(Reset{});
    if (fault_ == "greet_exit") std::exit(3);
    send(HandshakeResult{"faulty", name});
  }

  void end_run() {
    if (!endless_ && ++runs_ % period_ != 0) return send(RunResult{Value(1.0)});
    std::fprintf(stderr, "about to misbehave: %s\n", fault_.c_str());
    const auto found = faults_.find(fault_);
    if (found == faults_.end()) return send(RunResult{Value(1.0)});
    found->second();
  }

  // A tag of 7 x 11 numbers whose shape says something else.
  void misshapen(std::int32_t rows, std::int32_t columns) {
    std::string bytes = bytes_of(Tag{"y", "y", Value(std::vector<double>(77), Shape{7, 11})});
    const std::array<std::int32_t, 2> true_shape{7, 11}, told{rows, columns};
    const std::string_view pattern(reinterpret_cast<const char*>(true_shape.data()), 8);
    std::memcpy(bytes.data() + bytes.find(pattern), told.data(), 8);
    send_bytes(envelope_, {bytes});
  }

  [[noreturn]] void flood() {
    const std::string answer = bytes_of(RunResult{Value(1.0)});
    for (;;) send_bytes(envelope_, {answer});
  }

  void sample(Distribution distribution, const std::string& name = "y") {
    send(Sample{name, name, std::move(distribution), true});
  }

  // One byte of a good answer is another.
  void noise() {
    std::string bytes = bytes_of(Sample{"y", "y", Normal(Value({1, 2}), Value({3, 4})), true});
    const auto at = static_cast<std::size_t>(runs_ + 31 * ::getpid()) % bytes.size();
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << runs_ / period_ % 8));
    send_bytes(envelope_, {bytes});
  }

  std::string fault_;
  int period_;
  int runs_ = 0;
  bool endless_ = false;
  const Value nothing_;
  zmq::context_t context_;
  zmq::socket_t socket_{context_, zmq::socket_type::router};
  Encoder encoder_{ScalarShape::kNone};
  std::string request_;
  Frames envelope_, earlier_;  // of the request, and of the one before

  const std::map<std::string, std::function<void()>> faults_{
      {"crash", [] { std::abort(); }},
      {"exit", [] { std::exit(3); }},
      {"rename", [] { std::exit(3); }},
      {"hang", [] { sleep_for_ever(); }},
      {"close", [this] { socket_.close(), sleep_for_ever(); }},
      {"spam",
       [] {
         for (;;) std::fputs("more and more\n", stderr);
       }},
      {"throw",
       [this] {
         std::fputs("Traceback (most recent call last):\nNameError: name 'mu' is not defined\n",
                    stderr);
         send(Reset{});
       }},
      {"bars",  // of progress, and colours
       [] {
         for (int i = 0; i < 1000; ++i) std::fprintf(stderr, "\r%d %% done", i);
         std::fputs("\n\x1b[31mout of \xffluck\x1b[0m\r\n", stderr);
         std::exit(3);
       }},
      // Messages that are none.
      {"garbage", [this] { send_bytes(envelope_, {"what is this?"}); }},
      {"empty", [this] { send_bytes(envelope_, {""}); }},
      {"frames",
       [this] {
         send_bytes(envelope_, {bytes_of(RunResult{Value(1.0)}), "and more"});
       }},
      {"many", [this] { send_bytes(envelope_, Frames(10'000)); }},
      {"bare", [this] { send_bytes({envelope_[0]}, {bytes_of(RunResult{Value(1.0)})}); }},
      {"huge", [this] { misshapen(2147483647, 2147483647); }},
      {"negative", [this] { misshapen(-7, -11); }},
      {"ragged", [this] { misshapen(7, 12); }},
      {"large", [this] { send_bytes(envelope_, {std::string(kMaxMessageBytes + 1, 'x')}); }},
      {"long_name", [this] { sample(Normal(0, 1), std::string(100'000, 'y')); }},
      {"control_name", [this] { sample(Normal(0, 1), "y\x1b[31m\r"); }},
      {"no_name", [this] { sample(Normal(0, 1), ""); }},
      {"noise", [this] { noise(); }},
      // Messages that are not expected.
      {"step", [this] { send(TagResult{}); }},
      {"handshake", [this] { send(Handshake{"who?"}); }},
      {"handshake_result",
       [this] {
         send(HandshakeResult{"faulty", "faulty"});
       }},
      {"run", [this] { send(ppx::Run{}); }},
      {"sample_result", [this] { send(SampleResult{Value(1.0)}); }},
      {"observe_result", [this] { send(ObserveResult{Value(1.0)}); }},
      // Values that cannot be.
      {"nan", [this] { sample(Normal(kNaN, 1)); }},
      {"infinite", [this] { sample(Normal(0, kInfinity)); }},
      {"shapes",
       [this] {
         sample(Normal(Value({0, 0}), Value({1, 1, 1})));
       }},
      {"no_categories", [this] { sample(Categorical(nothing_)); }},
      {"result", [this] { send(RunResult{Value(kNaN)}); }},
      {"nan_tag",
       [this] {
         send(Tag{"y", "y", Value(kNaN)});
       }},
      {"no_tag",
       [this] {
         send(Tag{"y", "y", nothing_});
       }},
      {"nan_observed",
       [this] {
         send(Observe{"y", "y", Normal(0, 1), Value(kNaN)});
       }},
      {"other_shape",
       [this] {
         send(Observe{"y", "y", Normal(0, 1), Value({1, 2, 3})});
       }},
      {"nothing",
       [this] {
         send(Observe{"y", "y", std::nullopt, nothing_});
       }},
      {"endless",
       [this] {
         endless_ = true;
         sample(Normal(0, 1));
       }},
      // Answers to what was asked before.
      {"twice",
       [this] {
         for (int i = 0; i < 5; ++i) send(RunResult{Value(1.0)});
       }},
      {"late",
       [this] {
         send_bytes(earlier_, {bytes_of(Sample{"x", "x", Normal(0, 1), true})});
         send(RunResult{Value(1.0)});
         send_bytes(earlier_, {bytes_of(Sample{"x", "x", Normal(0, 1), true})});
       }},
      {"flood", [this] { flood(); }},
  };
};

}  // namespace

int main(int, char** argv) {
  struct sigaction action {};
  action.sa_handler = [](int) { garble = 1; };
  ::sigaction(SIGUSR1, &action, nullptr);
  Peer(argv[1], std::atoi(argv[2]), argv[3]).serve();
}
