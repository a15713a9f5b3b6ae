#include "psn/attach/packets.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "psn/base/error.h"
#include "psn/base/text.h"

namespace psn::attach {
namespace {

bool comes_from_a_program(wire::Kind kind) {
  return kind >= wire::Kind::kReady && kind <= wire::Kind::kEnded;
}

}  // namespace

Packet decode(std::span<const char> bytes) {
  Packet packet;
  if (bytes.size() < sizeof(wire::Head)) throw ProtocolError("a packet without a head");
  std::memcpy(&packet.head, bytes.data(), sizeof(wire::Head));
  if (!wire::well_formed(packet.head, bytes.size()) || !comes_from_a_program(packet.head.kind)) {
    throw ProtocolError("a packet that is not what it says");
  }
  const char* body = bytes.data() + sizeof(wire::Head);
  packet.numbers.resize(packet.head.numbers);
  if (!packet.numbers.empty()) {
    std::memcpy(packet.numbers.data(), body, 8 * packet.numbers.size());
  }
  packet.text.assign(body + 8 * packet.numbers.size(), packet.head.text);
  if (!is_printable(packet.text)) throw ProtocolError("a packet with text that is not printable");
  return packet;
}

Distribution drawn_from(const Packet& packet) {
  const auto id = static_cast<std::uint32_t>(packet.head.code);
  const auto family = id < 256 ? find_family(static_cast<std::uint8_t>(id)) : std::nullopt;
  const std::size_t count = packet.head.count;
  if (family == family_of<Categorical> && count == 0 && !packet.numbers.empty()) {
    return Categorical(Value(packet.numbers));
  }
  if (!family || !has_independent_components(*family) || family == family_of<Categorical> ||
      packet.numbers.size() != info(*family).parameters.size() || packet.text.empty()) {
    throw ProtocolError(
        fmt::format("a draw from family {} with {} parameters", id, packet.numbers.size()));
  }
  std::vector<Value> parameters(packet.numbers.begin(), packet.numbers.end());
  if (count > 0) parameters[0] = Value(std::vector<double>(count, packet.numbers[0]));
  return make_distribution(*family, std::move(parameters));
}

std::optional<Packet> receive(int socket, bool& open) {
  static thread_local std::array<char, wire::kMostBytes + 1> buffer;
  const ssize_t got = ::recv(socket, buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return std::nullopt;
  if (got <= 0) {
    open = false;
    return std::nullopt;
  }
  return decode({buffer.data(), static_cast<std::size_t>(got)});
}

bool send(int socket, wire::Head head, std::span<const double> numbers, std::string_view text,
          std::span<const int> descriptors) {
  head.numbers = static_cast<std::uint32_t>(numbers.size());
  head.text = static_cast<std::uint32_t>(text.size());
  std::array<iovec, 3> parts{{{&head, sizeof(head)},
                              {const_cast<double*>(numbers.data()), numbers.size_bytes()},
                              {const_cast<char*>(text.data()), text.size()}}};
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  alignas(cmsghdr) std::array<char, CMSG_SPACE(wire::kDescriptors * sizeof(int))> control{};
  if (!descriptors.empty()) {
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    cmsghdr* extra = CMSG_FIRSTHDR(&message);
    extra->cmsg_level = SOL_SOCKET;
    extra->cmsg_type = SCM_RIGHTS;
    extra->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(extra), descriptors.data(), descriptors.size_bytes());
  }
  ssize_t sent = 0;
  do {
    sent = ::sendmsg(socket, &message, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent >= 0;
}

SocketPair make_sockets() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw DataError(fmt::format("cannot make a pair of sockets: {}", std::strerror(errno)));
  }
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

}  // namespace psn::attach
