// A simulator of one normal variable that misbehaves in every n-th run: ppx_faulty FAULT N
// ENDPOINT. On SIGUSR1 it sends garbage next, whatever the fault.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <zmq.hpp>

#include "psn/base/numerics.h"
#include "psn/ppx/codec.h"

namespace {

using namespace psn;
using namespace psn::ppx;

volatile std::sig_atomic_t garble = 0;

class Peer {
 public:
  Peer(std::string fault, int period, const char* endpoint)
      : fault_(std::move(fault)), period_(period), socket_(context_, zmq::socket_type::rep) {
    socket_.bind(endpoint);
  }

  void serve() {
    for (;;) {
      zmq::message_t bytes;
      if (!receive(bytes)) continue;
      const Message message = decode({static_cast<const std::byte*>(bytes.data()), bytes.size()});
      if (std::holds_alternative<Handshake>(message)) {
        send(HandshakeResult{"faulty", "faulty"});
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
  bool receive(zmq::message_t& bytes) {
    try {
      return socket_.recv(bytes, zmq::recv_flags::none).has_value();
    } catch (const zmq::error_t&) {  // a signal
      return false;
    }
  }

  void send(const Message& message) {
    const auto bytes = encoder_.encode(message);
    zmq::message_t out(bytes.data(), bytes.size());
    if (std::exchange(garble, 0)) out.rebuild("what is this?", 13);
    socket_.send(out, zmq::send_flags::none);
  }

  void end_run() {
    if (!endless_ && ++runs_ % period_ != 0) return send(RunResult{Value(1.0)});
    std::fprintf(stderr, "about to misbehave: %s\n", fault_.c_str());
    if (fault_ == "crash") std::abort();
    if (fault_ == "exit") std::exit(3);
    if (fault_ == "hang") {
      for (;;) std::this_thread::sleep_for(std::chrono::seconds(1));
    }
    if (fault_ == "garbage") {
      garble = 1;
      return send(Reset{});
    }
    if (fault_ == "step") return send(TagResult{});
    if (fault_ == "nan") return send(Sample{"y", "y", Normal(kNaN, 1), true});
    if (fault_ == "endless") {
      endless_ = true;
      return send(Sample{"y", "y", Normal(0, 1), true});
    }
    send(RunResult{Value(kNaN)});
  }

  std::string fault_;
  int period_;
  int runs_ = 0;
  bool endless_ = false;
  zmq::context_t context_;
  zmq::socket_t socket_;
  Encoder encoder_{ScalarShape::kNone};
};

}  // namespace

int main(int, char** argv) {
  struct sigaction action {};
  action.sa_handler = [](int) { garble = 1; };
  ::sigaction(SIGUSR1, &action, nullptr);
  Peer(argv[1], std::atoi(argv[2]), argv[3]).serve();
}
