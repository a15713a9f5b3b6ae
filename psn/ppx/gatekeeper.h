// Gatekeeper: lets only clients with known CURVE keys connect (ZeroMQ's ZAP, RFC 27).
#pragma once

#include <atomic>
#include <string>
#include <thread>
#include <vector>
#include <zmq.hpp>

namespace psn::ppx {

// Stands at the gate of one context, before its first server socket is bound, until destroyed. With
// no keys it does nothing: without a gatekeeper everyone may enter.
class Gatekeeper {
 public:
  Gatekeeper(zmq::context_t& context, std::vector<std::string> keys);
  ~Gatekeeper();
  Gatekeeper(const Gatekeeper&) = delete;
  Gatekeeper& operator=(const Gatekeeper&) = delete;

 private:
  void loop(zmq::socket_t socket) const;
  bool known(const zmq::message_t& key) const;

  std::vector<std::string> keys_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace psn::ppx
