// ZeroMQ sockets as PPX uses them.
#pragma once

#include <chrono>
#include <string>
#include <vector>
#include <zmq.hpp>

#include "psn/ppx/security.h"

namespace psn::ppx {

// How we introduce ourselves.
inline constexpr const char* kSystemName = "psn " PSN_VERSION;

// No lingering, no message beyond the codec's limit, quick reconnection.
void configure_client(zmq::socket_t& socket, const ClientKeys& keys);
void configure_server(zmq::socket_t& socket, const ServerKeys& keys);

// Throw InvalidArgument that names the endpoint.
void connect(zmq::socket_t& socket, const std::string& endpoint);
void bind(zmq::socket_t& socket, const std::string& endpoint);

// True if one of the items is ready within the time; a signal ends the wait early.
bool poll(std::vector<zmq::pollitem_t>& items, std::chrono::milliseconds time);

// A frame that has come, waiting for it a tenth of a second; a signal ends the wait early.
bool receive(zmq::socket_t& socket, zmq::message_t& frame);

// A socket on which news of `watched`'s connection arrive; connection_lost() reads them.
zmq::socket_t watch_connection(zmq::context_t& context, zmq::socket_t& watched);
bool connection_lost(zmq::socket_t& monitor);

}  // namespace psn::ppx
