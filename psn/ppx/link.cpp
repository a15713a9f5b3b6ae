#include "psn/ppx/link.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "psn/base/error.h"
#include "psn/ppx/socket.h"

namespace psn::ppx {
namespace {

constexpr int kMaxFailedStarts = 5;

// None after the first failure; then it doubles.
Clock::duration pause_after(int failures) {
  constexpr double kFirst = 0.05, kLongest = 5;
  return failures <= 1 ? Clock::duration::zero()
                       : seconds(std::min(kLongest, kFirst * (1 << std::min(failures - 2, 10))));
}

std::string with(std::string command, std::string_view place, const std::string& value) {
  for (auto at = command.find(place); at != command.npos;
       at = command.find(place, at + value.size())) {
    command.replace(at, place.size(), value);
  }
  return command;
}

}  // namespace

Link::Link(LinkContext& context, std::uint64_t number, std::string peer, bool own)
    : context_(context), number_(number), peer_(std::move(peer)), own_(own) {}

Link::~Link() {
  terminate();
  if (socket_) close(false);
}

void Link::tend(Clock::time_point now) {
  if (state_ == State::kDown && now >= reopen_at_) open();
  if (state_ == State::kGreeting && now >= start_deadline_) {
    fail_start(fmt::format("no handshake within {} s", context_.options.start_limit));
  }
}

void Link::open() {
  socket_.emplace(context_.zmq, zmq::socket_type::req);
  configure_client(*socket_, context_.options.keys);
  watch(socket_->get(zmq::sockopt::fd), Signal::kMessage);
  ending_.clear();
  if (own_) {
    connect(*socket_, start_process());
  } else {
    monitor_.emplace(watch_connection(context_.zmq, *socket_));
    watch(monitor_->get(zmq::sockopt::fd), Signal::kConnection);
    connect(*socket_, peer_);
  }
  state_ = State::kGreeting;
  start_deadline_ = Clock::now() + seconds(context_.options.start_limit);
  send(Handshake{system_name()});
}

// Returns where it will serve: at a socket of its own, or, if the command wants one, at a port.
std::string Link::start_process() {
  std::string command = peer_, endpoint;
  if (command.find(kPortPlace) != command.npos) {
    const std::string port = std::to_string(free_port());
    command = with(std::move(command), kPortPlace, port);
    endpoint = "tcp://127.0.0.1:" + port;
  } else {
    directory_ = std::make_unique<PrivateDirectory>();
    endpoint = "ipc://" + directory_->path() + "/ppx";
    command = with(std::move(command), kEndpointPlace, endpoint);
  }
  process_ = std::make_unique<Process>(context_.nursery, command);
  watch(process_->exit_fd(), Signal::kEnd);
  watch(process_->output_fd(), Signal::kOutput);
  return endpoint;
}

void Link::watch(int fd, Signal signal) {
  context_.poller.add(fd, number_ * kSignals + static_cast<std::uint64_t>(signal));
  watched_.push_back(fd);
}

void Link::unwatch(int fd) {
  context_.poller.remove(fd);
  std::erase(watched_, fd);
}

void Link::close(bool at_once) {
  while (!watched_.empty()) unwatch(watched_.back());
  if (process_) {
    ending_ = process_->ending();
    process_->finish(at_once);
    output_ = process_->last_lines();
    process_.reset();
  }
  monitor_.reset();
  socket_.reset();
  directory_.reset();
  expecting_ = must_look_ = false;
  state_ = State::kDown;
}

void Link::pause() {
  ++failures_;
  reopen_at_ = Clock::now() + pause_after(failures_);
}

void Link::greeted(const Message& answer) {
  const auto* result = std::get_if<HandshakeResult>(&answer);
  if (!result) {
    return fail_start(fmt::format("answered the handshake with {}", message_name(answer)));
  }
  greeting_ = *result;
  directory_.reset();  // if psn is killed, nothing is left
  state_ = State::kUp;
  failed_starts_ = 0;
}

void Link::fail_start(const std::string& problem) {
  close();
  problem_ = fmt::format("{}: {}{}", peer_, problem,
                         output_.empty() ? "" : fmt::format("; its last output: {}", output_));
  pause();
  if (++failed_starts_ == kMaxFailedStarts) state_ = State::kLost;
}

void Link::fail_run() {
  close();
  pause();
}

void Link::abandon_run() {
  terminate();
  close(false);
  reopen_at_ = Clock::now();
}

void Link::send(const Message& message) {
  const auto bytes = encoder_.encode(message);
  socket_->send(zmq::const_buffer(bytes.data(), bytes.size()), zmq::send_flags::dontwait);
  expecting_ = must_look_ = true;
}

std::optional<Message> Link::receive() {
  must_look_ = false;
  if (!expecting_) {
    (void)socket_->get(zmq::sockopt::events);  // clears a signal that has been dealt with
    return std::nullopt;
  }
  zmq::message_t message;
  if (!socket_->recv(message, zmq::recv_flags::dontwait)) return std::nullopt;
  expecting_ = false;
  if (message.more()) throw ProtocolError("a message of several frames");
  return decode({static_cast<const std::byte*>(message.data()), message.size()});
}

void Link::drain() {
  if (!process_->drain()) unwatch(process_->output_fd());
}

bool Link::is_dead() {
  return process_ || (monitor_ && connection_lost(*monitor_));
}

std::string Link::ending() const {
  if (process_) return process_->ending();
  return ending_.empty() ? "the connection was lost" : ending_;
}

std::string Link::last_lines() const {
  return process_ ? process_->last_lines() : output_;
}

void Link::terminate() {
  if (process_) process_->terminate();
}

}  // namespace psn::ppx
