#include "psn/ppx/server.h"

#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <string>
#include <unordered_map>
#include <vector>

#include "psn/base/signal_stack.h"
#include "psn/core/in_process.h"
#include "psn/ppx/connections.h"
#include "psn/ppx/gatekeeper.h"
#include "psn/ppx/service.h"
#include "psn/ppx/socket.h"

namespace psn::ppx {
namespace {

// The frames of the next message; none if none came while the socket waits. The routing id that a
// ROUTER puts first comes with the rest of the message at hand.
std::vector<zmq::message_t> receive_all(zmq::socket_t& socket) {
  constexpr std::size_t kMaxFrames = 5;  // one more than a good message has
  std::vector<zmq::message_t> frames;
  zmq::message_t frame;
  while (receive(socket, frame)) {
    const bool more = frame.more();
    if (frames.size() < kMaxFrames) frames.push_back(std::move(frame));
    if (!more) return frames;
  }
  return {};
}

// What stands before a message: who it is from, the engine's number of it if it numbers them, and
// nothing. Its answer must have the same before it. Returns how many frames; 0: it has no answer.
std::size_t envelope_of(const std::vector<zmq::message_t>& frames) {
  constexpr std::size_t kMaxNumber = 64;  // bytes
  if (frames.size() > 2 && frames[1].empty()) return 2;
  const bool numbered = frames.size() > 3 && frames[1].size() <= kMaxNumber && frames[2].empty();
  return numbered ? 3 : 0;
}

// What each engine numbers its last message with; "" if it does not.
using Numbers = std::unordered_map<std::string, std::string>;

// Did the message make sense?
bool take(Service& service, Numbers& numbers, const std::string& engine,
          const std::vector<zmq::message_t>& frames) {
  const std::size_t before = envelope_of(frames);
  if (before == 0) return false;
  numbers[engine] = before == 3 ? frames[1].to_string() : "";
  if (frames.size() > before + 1) {
    service.refuse(engine, "a message of several frames");
    return false;
  }
  const zmq::message_t& message = frames[before];
  return service.take(engine, {static_cast<const std::byte*>(message.data()), message.size()});
}

// A signal handler can reach nothing but a global.
std::atomic<bool> stop_requested{false};  // NOLINT(*-avoid-non-const-global-variables)

void request_stop(int) {
  stop_requested.store(true);
}

}  // namespace

void serve(Simulator& simulator, const ServeOptions& options) {
  zmq::context_t context(1);
  const Gatekeeper gatekeeper(context, options.keys.clients);
  zmq::socket_t socket(context, zmq::socket_type::router);
  configure_server(socket, options.keys);
  Connections connections(context, socket);
  const std::string endpoint = bind(socket, options.endpoint);
  if (options.ready) options.ready(endpoint);

  Numbers numbers;
  Service service(simulator, options, [&](const std::string& engine, auto message) {
    socket.send(zmq::buffer(engine), zmq::send_flags::sndmore);
    if (const std::string& number = numbers[engine]; !number.empty()) {
      socket.send(zmq::buffer(number), zmq::send_flags::sndmore);
    }
    socket.send(zmq::message_t(), zmq::send_flags::sndmore);
    socket.send(zmq::const_buffer(message.data(), message.size()), zmq::send_flags::none);
  });
  while (!options.stop || !options.stop->load()) {
    std::vector<zmq::message_t> frames = receive_all(socket);
    for (const std::string& engine : connections.gone()) {
      service.leave(engine);
      numbers.erase(engine);
    }
    service.admit();
    if (frames.empty()) continue;
    const std::string engine = frames[0].to_string();
    if (!connections.is_open(engine, frames.back())) continue;
    connections.judge(frames.back(), take(service, numbers, engine, frames));
  }
}

int serve_main(Model model, int argc, char** argv) {
  handle_signal(SIGINT, request_stop);
  handle_signal(SIGTERM, request_stop);
  try {
    InProcess simulator(std::move(model));
    ServeOptions options;
    if (argc > 1) options.endpoint = argv[1];
    options.stop = &stop_requested;
    options.log = [](const std::string& line) { fmt::print(stderr, "{}\n", line); };
    serve(simulator, options);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}

}  // namespace psn::ppx
