#include "psn/ppx/gatekeeper.h"

#include <algorithm>
#include <array>
#include <utility>

#include "psn/ppx/socket.h"

namespace psn::ppx {

Gatekeeper::Gatekeeper(zmq::context_t& context, std::vector<std::string> keys)
    : keys_(std::move(keys)) {
  if (keys_.empty()) return;
  zmq::socket_t socket(context, zmq::socket_type::rep);
  configure_server(socket, {});
  socket.bind("inproc://zeromq.zap.01");
  thread_ = std::thread([this, socket = std::move(socket)]() mutable { loop(std::move(socket)); });
}

Gatekeeper::~Gatekeeper() {
  stop_.store(true);
  if (thread_.joinable()) thread_.join();
}

bool Gatekeeper::known(const zmq::message_t& key) const {
  std::array<char, 41> text{};
  if (key.size() != 32 ||
      !::zmq_z85_encode(text.data(), static_cast<const std::uint8_t*>(key.data()), key.size())) {
    return false;
  }
  return std::find(keys_.begin(), keys_.end(), text.data()) != keys_.end();
}

// A request: version, id, domain, address, identity, mechanism, and for CURVE the client's key.
void Gatekeeper::loop(zmq::socket_t socket) const {
  while (!stop_.load()) {
    std::vector<zmq::message_t> frames;
    do {
      if (!receive(socket, frames.emplace_back())) break;
    } while (frames.back().more());
    if (frames.size() < 2) continue;
    const bool enter =
        frames.size() == 7 && frames[5].to_string_view() == "CURVE" && known(frames[6]);
    socket.send(frames[0], zmq::send_flags::sndmore);
    socket.send(frames[1], zmq::send_flags::sndmore);
    for (const std::string_view text : {enter ? "200" : "400", enter ? "OK" : "unknown key", ""}) {
      socket.send(zmq::buffer(text), zmq::send_flags::sndmore);
    }
    socket.send(zmq::message_t(), zmq::send_flags::none);  // no metadata
  }
}

}  // namespace psn::ppx
