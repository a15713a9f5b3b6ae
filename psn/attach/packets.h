// Packets of the library's protocol as the engine has them. What comes from a program is foreign:
// lengths are checked against the packet, and numbers against limits, before anything is looked at.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "psn/attach/wire.h"
#include "psn/core/distribution.h"
#include "psn/io/descriptor.h"

namespace psn::attach {

struct Packet {
  wire::Head head;
  std::vector<double> numbers;
  std::string text;
};

// Throws ProtocolError for bytes that are no packet of a program's.
Packet decode(std::span<const char> bytes);

// What a kDraw asks for. Throws ProtocolError for a family that has no such form; the parameters
// themselves may be impossible.
Distribution drawn_from(const Packet& packet);

// Takes the next packet, if there is one. `open` becomes false when the other end is closed.
std::optional<Packet> receive(int socket, bool& open);
// Descriptors go along. False: nobody is there.
bool send(int socket, wire::Head head, std::span<const double> numbers, std::string_view text,
          std::span<const int> descriptors = {});

// Two ends, closed in whatever this process becomes.
struct SocketPair {
  Descriptor ours, theirs;
};
SocketPair make_sockets();

}  // namespace psn::attach
