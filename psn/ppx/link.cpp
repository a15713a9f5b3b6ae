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

std::string with(std::string command, const std::string& endpoint) {
  const std::string_view place = "{endpoint}";
  for (auto at = command.find(place); at != command.npos;
       at = command.find(place, at + endpoint.size())) {
    command.replace(at, place.size(), endpoint);
  }
  return command;
}

}  // namespace

Link::Link(LinkContext& context, std::string endpoint, std::string command)
    : context_(context), endpoint_(std::move(endpoint)), command_(std::move(command)) {}

Link::~Link() = default;

void Link::tend(Clock::time_point now) {
  if (state_ == State::kDown && now >= reopen_at_) open();
  if (state_ == State::kGreeting && now >= start_deadline_) {
    fail_start(fmt::format("no handshake within {} s", context_.options.start_limit));
  }
}

void Link::open() {
  const bool own = !command_.empty();
  const std::string endpoint = own ? fmt::format("{}-{}", endpoint_, ++processes_) : endpoint_;
  socket_.emplace(context_.zmq, zmq::socket_type::req);
  configure_client(*socket_, context_.options.keys);
  if (own) {
    process_ = std::make_unique<Process>(context_.nursery, with(command_, endpoint));
    items_ = 3;
  } else {
    monitor_.emplace(watch_connection(context_.zmq, *socket_));
    items_ = 2;
  }
  ++generation_;
  ending_.clear();
  connect(*socket_, endpoint);
  state_ = State::kGreeting;
  start_deadline_ = Clock::now() + seconds(context_.options.start_limit);
  send(Handshake{kSystemName});
}

void Link::close(bool at_once) {
  if (process_) {
    ending_ = process_->ending();
    process_->finish(at_once);
    output_ = process_->last_lines();
    process_.reset();
  }
  monitor_.reset();
  socket_.reset();
  items_ = 0;
  ++generation_;
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
  peer_ = *result;
  state_ = State::kUp;
  failed_starts_ = 0;
}

void Link::fail_start(const std::string& problem) {
  close();
  problem_ = fmt::format("{}: {}{}", command_.empty() ? endpoint_ : command_, problem,
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
}

std::optional<Message> Link::receive() {
  zmq::message_t message;
  if (!socket_->recv(message, zmq::recv_flags::dontwait)) return std::nullopt;
  if (message.more()) throw ProtocolError("a message of several frames");
  return decode({static_cast<const std::byte*>(message.data()), message.size()});
}

void Link::add_items(std::vector<zmq::pollitem_t>& items) {
  if (items_ == 0) return;
  items.push_back({socket_->handle(), 0, ZMQ_POLLIN, 0});
  if (process_) {
    items.push_back({nullptr, process_->exit_fd(), ZMQ_POLLIN, 0});
    items.push_back({nullptr, process_->output_fd(), ZMQ_POLLIN, 0});
  } else {
    items.push_back({monitor_->handle(), 0, ZMQ_POLLIN, 0});
  }
}

Link::Signals Link::signals(const zmq::pollitem_t* items) {
  if (process_ && items[2].revents) process_->drain();
  return {.message = items[0].revents != 0,
          .died = items[1].revents != 0 && (process_ ? true : connection_lost(*monitor_))};
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
