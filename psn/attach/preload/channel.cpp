#include "psn/attach/preload/channel.h"

#include <sys/socket.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>

namespace psn::preload {

bool send_packet(int socket, wire::Head head, const double* numbers, const char* text) {
  iovec parts[] = {{&head, sizeof(head)},
                   {const_cast<double*>(numbers), 8 * std::size_t{head.numbers}},
                   {const_cast<char*>(text), head.text}};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = 3;
  ssize_t sent = 0;
  do {
    sent = ::sendmsg(socket, &message, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent >= 0;
}

bool receive_packet(int socket, Packet& packet) {
  iovec parts[] = {{&packet.head, sizeof(packet.head)}, {packet.body, sizeof(packet.body)}};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(packet.descriptors))];
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = 2;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  ssize_t got = 0;
  do {
    got = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got < static_cast<ssize_t>(sizeof(wire::Head))) return false;
  packet.descriptor_count = 0;
  if (const cmsghdr* extra = CMSG_FIRSTHDR(&message);
      extra && extra->cmsg_level == SOL_SOCKET && extra->cmsg_type == SCM_RIGHTS) {
    packet.descriptor_count = (extra->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    std::memcpy(packet.descriptors, CMSG_DATA(extra), packet.descriptor_count * sizeof(int));
  }
  return wire::well_formed(packet.head, static_cast<std::size_t>(got));
}

}  // namespace psn::preload
