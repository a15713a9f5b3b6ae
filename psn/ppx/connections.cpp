#include "psn/ppx/connections.h"

#include <arpa/inet.h>
#include <sys/socket.h>

#include <cstdint>
#include <cstring>

namespace psn::ppx {
namespace {

constexpr const char* kMonitor = "inproc://connections";

struct ConnectionEvent {
  std::uint16_t kind = 0;
  int fd = -1;
};

// Two frames: kind and value, then the address.
bool next_event(zmq::socket_t& monitor, ConnectionEvent& event) {
  zmq::message_t frame, address;
  if (!monitor.recv(frame, zmq::recv_flags::dontwait)) return false;
  if (frame.more()) (void)monitor.recv(address, zmq::recv_flags::none);
  const auto* bytes = static_cast<const char*>(frame.data());
  std::memcpy(&event.kind, bytes, sizeof event.kind);
  std::memcpy(&event.fd, bytes + sizeof event.kind, sizeof event.fd);
  return true;
}

// Could a connection of that name have been made after the other? ROUTER sockets number the peers
// that choose no name themselves: a zero, then four bytes.
bool may_follow(const std::string& name, const std::string& other) {
  const auto is_number = [](const std::string& text) { return text.size() == 5 && text[0] == 0; };
  if (!is_number(name) || !is_number(other)) return true;
  std::uint32_t numbers[2];
  std::memcpy(&numbers[0], name.data() + 1, sizeof(std::uint32_t));
  std::memcpy(&numbers[1], other.data() + 1, sizeof(std::uint32_t));
  return static_cast<std::int32_t>(ntohl(numbers[0]) - ntohl(numbers[1])) > 0;
}

}  // namespace

Connections::Connections(zmq::context_t& context, zmq::socket_t& server)
    : server_(server), monitor_(context, zmq::socket_type::pair) {
  monitor_.set(zmq::sockopt::linger, 0);
  monitor_.set(zmq::sockopt::rcvhwm, 0);  // ZeroMQ waits rather than lose an event
  if (::zmq_socket_monitor(server.handle(), kMonitor,
                           ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_DISCONNECTED) != 0) {
    throw zmq::error_t();
  }
  monitor_.connect(kMonitor);
}

std::vector<std::string> Connections::gone() {
  std::vector<std::string> gone;
  for (ConnectionEvent event; next_event(monitor_, event);) {
    Peer& peer = peers_[event.fd];
    if (!peer.name.empty()) {
      gone.push_back(peer.name);
      peer.before = std::move(peer.name);
    }
    peer = {.open = event.kind == ZMQ_EVENT_ACCEPTED, .before = std::move(peer.before)};
  }
  return gone;
}

bool Connections::is_open(const std::string& peer, zmq::message_t& message) {
  const auto known = peers_.find(::zmq_msg_get(message.handle(), ZMQ_SRCFD));
  if (known == peers_.end() || !known->second.open) return false;
  Peer& now = known->second;
  if (peer == now.name) return true;
  if (!may_follow(peer, now.before) || !may_follow(peer, now.name)) return false;
  now.name = peer;
  now.nonsense = 0;
  return true;
}

void Connections::judge(zmq::message_t& message, bool sense) {
  constexpr int kMaxNonsense = 100;
  const auto known = peers_.find(::zmq_msg_get(message.handle(), ZMQ_SRCFD));
  if (known == peers_.end()) return;
  int& nonsense = known->second.nonsense;
  nonsense = sense ? 0 : nonsense + 1;
  if (nonsense == kMaxNonsense) ::shutdown(known->first, SHUT_RDWR);  // ZeroMQ has no word for it
}

}  // namespace psn::ppx
