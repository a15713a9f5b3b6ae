// ZeroMQ sockets as PPX uses them.
#pragma once

#include <sys/epoll.h>

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>
#include <zmq.hpp>

#include "psn/ppx/security.h"

namespace psn::ppx {

// How we introduce ourselves: "psn " and the version.
std::string system_name();

// No lingering, no message beyond the codec's limit. Clients reconnect quickly; servers wait a
// tenth of a second for a message, so that they can look whether to stop.
void configure_client(zmq::socket_t& socket, const ClientKeys& keys);
void configure_server(zmq::socket_t& socket, const ServerKeys& keys);

// Throw InvalidArgument that names the endpoint.
void connect(zmq::socket_t& socket, const std::string& endpoint);
// Returns where it serves, with the port that the system chose, as one would write it:
// tcp://127.0.0.1:PORT, not tcp://[::ffff:127.0.0.1]:PORT.
std::string bind(zmq::socket_t& socket, const std::string& endpoint);

// A TCP port of this machine that nobody uses now.
int free_port();

// False if no frame came while the socket waits; a signal ends the wait early.
bool receive(zmq::socket_t& socket, zmq::message_t& frame);
// The same for all frames of a message, without waiting. Of a message of very many the first few.
bool receive_now(zmq::socket_t& socket, std::vector<zmq::message_t>& frames);
// False if the socket cannot take the message now.
bool send_now(zmq::socket_t& socket, std::span<const std::span<const std::byte>> frames);

// Waits for many file descriptors at once, each known by a key. Not thread-safe.
//
// For a ZeroMQ socket (sockopt::fd) it tells only of what comes after one has tried to receive in
// vain. In return it costs one call of the kernel, where zmq_poll takes several for each socket.
class Poller {
 public:
  Poller();
  ~Poller();
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;

  void add(int fd, std::uint64_t key);
  void remove(int fd);
  // Keys of those that are readable, in order, waiting for the first; a signal ends the wait early.
  // Valid until the next call.
  std::span<const std::uint64_t> wait(std::chrono::milliseconds time);

 private:
  int fd_;
  std::size_t watched_ = 0;
  std::vector<epoll_event> events_;
  std::vector<std::uint64_t> ready_;
};

// A socket on which events of `watched`'s connection arrive; read_connection_events() takes them.
struct ConnectionEvents {
  bool made = false, lost = false;
};
zmq::socket_t watch_connection(zmq::context_t& context, zmq::socket_t& watched);
// To be called before the monitor is closed: with nobody to take the events, ZeroMQ waits for ever.
void unwatch_connection(zmq::socket_t& watched);
ConnectionEvents read_connection_events(zmq::socket_t& monitor);

}  // namespace psn::ppx
