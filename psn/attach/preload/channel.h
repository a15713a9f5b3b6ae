// The library's end of the socket to the engine.
#pragma once

#include <cstddef>

#include "psn/attach/wire.h"

namespace psn::preload {

namespace wire = attach::wire;

// A packet, with the descriptors that came along.
struct Packet {
  wire::Head head;
  alignas(8) char body[wire::kMostBytes];
  int descriptors[wire::kDescriptors];
  std::size_t descriptor_count;

  const double* numbers() const { return reinterpret_cast<const double*>(body); }
  const char* text() const { return body + 8 * std::size_t{head.numbers}; }
};

// False: nobody is there any more.
bool send_packet(int socket, wire::Head head, const double* numbers, const char* text);
// False: the other end is closed, or sent what is no packet.
bool receive_packet(int socket, Packet& packet);

}  // namespace psn::preload
