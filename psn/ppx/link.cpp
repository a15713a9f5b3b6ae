#include "psn/ppx/link.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <utility>

#include "psn/base/error.h"
#include "psn/ppx/socket.h"

namespace psn::ppx {
namespace {

constexpr int kMaxFailedStarts = 5;
constexpr int kMaxStrays = 1000;  // in place of one answer

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
    if (!met_) state_ = State::kLost;  // it had all of its time
  }
}

void Link::open() {
  socket_.emplace(context_.zmq, zmq::socket_type::dealer);
  configure_client(*socket_, context_.options.keys);
  watch(socket_->get(zmq::sockopt::fd), Signal::kMessage);
  monitor_.emplace(watch_connection(context_.zmq, *socket_));
  watch(monitor_->get(zmq::sockopt::fd), Signal::kConnection);
  ending_.clear();
  connect(*socket_, own_ ? start_process() : peer_);
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
  process_ = std::make_unique<Process>(context_.starter, command);
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
  if (socket_) unwatch_connection(*socket_);
  monitor_.reset();
  socket_.reset();
  directory_.reset();
  expecting_ = must_look_ = undelivered_ = false;
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
  if (std::exchange(met_, true) && result->model_name != greeting_.model_name) {
    return fail_start(fmt::format("serves the model '{}' now, but '{}' before", result->model_name,
                                  greeting_.model_name));
  }
  greeting_ = *result;
  directory_.reset();  // if psn is killed, nothing is left
  state_ = State::kUp;
  failed_starts_ = 0;
}

void Link::fail_start(const std::string& problem) {
  close();
  problem_ = fmt::format("{}: {}{}", peer_, problem, last_words());
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

// An envelope before the message, as of a REQ socket, which the peer's REP socket puts before its
// answer: a number, and an empty frame.
void Link::send(const Message& message) {
  ++request_;
  const std::array frames{std::as_bytes(std::span(&request_, 1)), std::span<const std::byte>(),
                          encoder_.encode(message)};
  undelivered_ = !send_now(*socket_, frames);
  strays_ = 0;
  expecting_ = must_look_ = true;
}

bool Link::is_answer(const std::vector<zmq::message_t>& frames) const {
  if (frames.size() < 3 || frames[0].size() != sizeof request_ || !frames[1].empty()) {
    throw ProtocolError("a message without the envelope of ours");
  }
  return std::memcmp(frames[0].data(), &request_, sizeof request_) == 0;
}

std::optional<Message> Link::receive() {
  constexpr int kAtOnce = 16;
  must_look_ = false;
  if (undelivered_) throw ProtocolError("takes no messages");
  if (!expecting_) {
    (void)socket_->get(zmq::sockopt::events);  // clears a signal that has been dealt with
    return std::nullopt;
  }
  for (int i = 0; i < kAtOnce; ++i) {
    if (!receive_now(*socket_, frames_)) return std::nullopt;
    if (is_answer(frames_)) {
      expecting_ = false;
      if (frames_.size() > 3) throw ProtocolError("a message of several frames");
      return decode({static_cast<const std::byte*>(frames_[2].data()), frames_[2].size()});
    }
    if (++strays_ > kMaxStrays) throw ProtocolError("a flood of messages that answer nothing");
  }
  must_look_ = true;  // others have their turn first
  return std::nullopt;
}

void Link::drain() {
  if (process_ && !process_->drain()) unwatch(process_->output_fd());
}

bool Link::is_dead() {
  const ConnectionEvents events = read_connection_events(*monitor_);
  reached_ |= events.made;
  if (process_ && !process_->ending().empty()) return true;
  if (events.lost && process_) process_->wait();  // mostly it is about to end, and that says more
  return events.lost;
}

std::string Link::ending() const {
  const std::string ending = process_ ? process_->ending() : ending_;
  return ending.empty() ? "the connection was lost" : ending;
}

std::string Link::last_words() const {
  const std::string lines = process_ ? process_->last_lines() : output_;
  return lines.empty() ? "" : "; its last output: " + lines;
}

void Link::terminate() {
  if (process_) process_->terminate();
}

}  // namespace psn::ppx
