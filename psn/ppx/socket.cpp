#include "psn/ppx/socket.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "psn/base/error.h"
#include "psn/ppx/codec.h"
#include "psn/version.h"

namespace psn::ppx {
namespace {

constexpr const char* kDomain = "psn";

void configure(zmq::socket_t& socket) {
  socket.set(zmq::sockopt::linger, 0);
  socket.set(zmq::sockopt::maxmsgsize, static_cast<std::int64_t>(kMaxMessageBytes));
  socket.set(zmq::sockopt::tcp_keepalive, 1);
  socket.set(zmq::sockopt::ipv6, true);
}

void set_pair(zmq::socket_t& socket, const KeyPair& pair) {
  for (const std::string* key : {&pair.public_key, &pair.secret_key}) {
    if (key->size() != 40) throw InvalidArgument("a CURVE key must have 40 characters");
  }
  socket.set(zmq::sockopt::curve_publickey, pair.public_key);
  socket.set(zmq::sockopt::curve_secretkey, pair.secret_key);
}

template <class F>
void at(const std::string& endpoint, const char* what, F f) {
  try {
    f();
  } catch (const zmq::error_t& error) {
    throw InvalidArgument(fmt::format("cannot {} '{}': {}", what, endpoint, error.what()));
  }
}

}  // namespace

std::string system_name() {
  return "psn " PSN_VERSION;
}

KeyPair make_key_pair() {
  std::array<char, 41> public_key{}, secret_key{};
  if (::zmq_curve_keypair(public_key.data(), secret_key.data()) != 0) {
    throw InvalidArgument("this ZeroMQ was built without CURVE");
  }
  return {public_key.data(), secret_key.data()};
}

void configure_client(zmq::socket_t& socket, const ClientKeys& keys) {
  configure(socket);
  socket.set(zmq::sockopt::reconnect_ivl, 5);
  socket.set(zmq::sockopt::reconnect_ivl_max, 200);
  if (keys.server_key.empty()) return;
  if (keys.server_key.size() != 40) throw InvalidArgument("a CURVE key must have 40 characters");
  set_pair(socket, keys.own.secret_key.empty() ? make_key_pair() : keys.own);
  socket.set(zmq::sockopt::curve_serverkey, keys.server_key);
}

void configure_server(zmq::socket_t& socket, const ServerKeys& keys) {
  configure(socket);
  constexpr int kMilliseconds = 100;
  socket.set(zmq::sockopt::rcvtimeo, kMilliseconds);
  // libzmq 4.3.4 aborts when the peer of a full queue goes with a PING unread behind it. A limit to
  // the number of messages would bound nothing anyway, as long as they are.
  socket.set(zmq::sockopt::rcvhwm, 0);
  // With a domain libzmq speaks no ZMTP older than 3, for which any bytes could be messages.
  socket.set(zmq::sockopt::zap_domain, kDomain);
  if (keys.own.secret_key.empty()) return;
  set_pair(socket, keys.own);
  socket.set(zmq::sockopt::curve_server, true);
}

void connect(zmq::socket_t& socket, const std::string& endpoint) {
  at(endpoint, "connect to", [&] { socket.connect(endpoint); });
}

std::string bind(zmq::socket_t& socket, const std::string& endpoint) {
  at(endpoint, "serve at", [&] { socket.bind(endpoint); });
  std::string bound = socket.get(zmq::sockopt::last_endpoint);
  constexpr std::string_view kMapped = "[::ffff:";
  const auto begin = bound.find(kMapped), end = bound.find(']');
  if (begin != bound.npos && end != bound.npos && bound.find('.') < end) {
    bound.erase(end, 1).erase(begin, kMapped.size());
  }
  return bound;
}

int free_port() {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  auto* any = reinterpret_cast<sockaddr*>(&address);
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const bool found = ::bind(fd, any, length) == 0 && ::getsockname(fd, any, &length) == 0;
  ::close(fd);
  if (!found) throw DataError(fmt::format("no port is free: {}", std::strerror(errno)));
  return ntohs(address.sin_port);
}

bool receive(zmq::socket_t& socket, zmq::message_t& frame) {
  const int size = ::zmq_msg_recv(frame.handle(), socket.handle(), 0);
  if (size < 0 && zmq_errno() != EAGAIN && zmq_errno() != EINTR) throw zmq::error_t();
  return size >= 0;
}

bool receive_now(zmq::socket_t& socket, std::vector<zmq::message_t>& frames) {
  constexpr std::size_t kMostFrames = 8;
  frames.clear();
  for (bool more = true; more;) {
    zmq::message_t frame;
    int size = -1;
    do {
      size = ::zmq_msg_recv(frame.handle(), socket.handle(), ZMQ_DONTWAIT);
    } while (size < 0 && zmq_errno() == EINTR);
    if (size < 0 && zmq_errno() != EAGAIN) throw zmq::error_t();
    if (size < 0) return false;
    more = frame.more();
    if (frames.size() < kMostFrames) frames.push_back(std::move(frame));
  }
  return true;
}

bool send_now(zmq::socket_t& socket, std::span<const std::span<const std::byte>> frames) {
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const int flags = ZMQ_DONTWAIT | (i + 1 < frames.size() ? ZMQ_SNDMORE : 0);
    int sent = -1;
    do {
      sent = ::zmq_send(socket.handle(), frames[i].data(), frames[i].size(), flags);
    } while (sent < 0 && zmq_errno() == EINTR);
    if (sent < 0 && zmq_errno() != EAGAIN) throw zmq::error_t();
    if (sent < 0) return false;
  }
  return true;
}

Poller::Poller() : fd_(::epoll_create1(EPOLL_CLOEXEC)) {
  if (fd_ < 0) throw DataError(fmt::format("cannot poll: {}", std::strerror(errno)));
}

Poller::~Poller() {
  ::close(fd_);
}

void Poller::add(int fd, std::uint64_t key) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = key;
  if (::epoll_ctl(fd_, EPOLL_CTL_ADD, fd, &event) != 0) {
    throw DataError(fmt::format("cannot poll: {}", std::strerror(errno)));
  }
  ++watched_;
}

void Poller::remove(int fd) {
  ::epoll_ctl(fd_, EPOLL_CTL_DEL, fd, nullptr);
  --watched_;
}

std::span<const std::uint64_t> Poller::wait(std::chrono::milliseconds time) {
  events_.resize(std::max<std::size_t>(1, watched_));
  const int ready = ::epoll_wait(fd_, events_.data(), static_cast<int>(events_.size()),
                                 static_cast<int>(time.count()));
  ready_.clear();
  for (int i = 0; i < ready; ++i) {
    const std::uint64_t key = events_[static_cast<std::size_t>(i)].data.u64;  // may lie unaligned
    ready_.push_back(key);
  }
  std::sort(ready_.begin(), ready_.end());
  return ready_;
}

zmq::socket_t watch_connection(zmq::context_t& context, zmq::socket_t& watched) {
  static std::atomic<unsigned> count{0};  // inproc names are unique in a context
  const std::string name = fmt::format("inproc://connection-{}", count.fetch_add(1));
  if (::zmq_socket_monitor(watched.handle(), name.c_str(),
                           ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_DISCONNECTED) != 0) {
    throw zmq::error_t();
  }
  zmq::socket_t monitor(context, zmq::socket_type::pair);
  monitor.set(zmq::sockopt::linger, 0);
  monitor.connect(name);
  read_connection_events(monitor);  // a look in vain, so that a Poller will tell
  return monitor;
}

void unwatch_connection(zmq::socket_t& watched) {
  ::zmq_socket_monitor(watched.handle(), nullptr, 0);
}

ConnectionEvents read_connection_events(zmq::socket_t& monitor) {
  ConnectionEvents events;
  std::vector<zmq::message_t> event;  // its kind, and the address
  while (receive_now(monitor, event)) {
    std::uint16_t kind = 0;
    if (event[0].size() >= sizeof kind) std::memcpy(&kind, event[0].data(), sizeof kind);
    events.made |= kind == ZMQ_EVENT_HANDSHAKE_SUCCEEDED;
    events.lost |= kind == ZMQ_EVENT_DISCONNECTED;
  }
  return events;
}

}  // namespace psn::ppx
