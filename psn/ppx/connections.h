// Connections: who is connected to a server. A ROUTER socket does not say when a peer goes; its
// monitor does, but knows connections only by file descriptor, which every message has as well.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>
#include <zmq.hpp>

#include "psn/ppx/socket.h"

namespace psn::ppx {

// Not thread-safe. Made before the socket is bound.
class Connections {
 public:
  Connections(zmq::context_t& context, zmq::socket_t& server);
  ~Connections() { unwatch_connection(server_); }
  Connections(const Connections&) = delete;
  Connections& operator=(const Connections&) = delete;

  // Peers that have gone since the last call.
  std::vector<std::string> gone();
  // Whose connection a message came over; false if it is closed already. To be asked after gone(),
  // which comes after receiving: a new connection may have the descriptor of an old one, much of
  // which may still be unread.
  bool is_open(const std::string& peer, zmq::message_t& message);
  // Did that message make sense? Who talks nonsense all the time, as no engine does, is cut off:
  // nonsense could fill the memory faster than it can be read.
  void judge(zmq::message_t& message, bool sense);

 private:
  struct Peer {
    bool open = false;
    std::string name{};    // none until it has spoken
    std::string before{};  // who spoke last through this descriptor while it was another's
    int nonsense = 0;      // messages in a row
  };

  zmq::socket_t& server_;
  zmq::socket_t monitor_;
  std::unordered_map<int, Peer> peers_;  // by descriptor
};

}  // namespace psn::ppx
