#include "psn/attach/runs.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <fstream>
#include <utility>

#include "psn/base/error.h"
#include "psn/base/text.h"

namespace psn::attach {
namespace {

constexpr std::size_t kLastWords = 500;
constexpr int kMostPackets = 8;  // of one run in a row

wire::Head head_of(wire::Kind kind, std::uint64_t run = 0) {
  wire::Head head;
  head.kind = kind;
  head.run = run;
  return head;
}

// Of a process that waits, "/lib/libm.so.6" by "libm.so.6".
std::map<std::string, std::string> modules_of(std::uint64_t process) {
  std::map<std::string, std::string> modules;
  std::ifstream maps(fmt::format("/proc/{}/maps", process));
  for (std::string line; std::getline(maps, line);) {
    const std::size_t path = line.find('/');
    if (path == line.npos || line.find(" r-xp ") == line.npos) continue;
    modules.emplace(line.substr(line.rfind('/') + 1), line.substr(path));
  }
  return modules;
}

std::string ending(int status) {
  return WIFSIGNALED(status) ? fmt::format("killed by signal {}", WTERMSIG(status))
                             : fmt::format("exit code {}", WEXITSTATUS(status));
}

}  // namespace

Runs::Runs(const std::string& command, const Settings& settings, double start_limit)
    : words_(command),
      command_(command),
      settings_(settings),
      start_limit_(start_limit),
      workspace_(starter_, settings.files),
      server_out_(make_memory_file("psn-out")),
      server_err_(make_memory_file("psn-err")),
      server_folder_(workspace_.folder(0)) {}

Runs::~Runs() {
  for (const auto& seat : seats_) {
    if (seat->child.pid > 0) finish(seat->child);
  }
  stop_server();
}

// The process that is copied ends its copies when it sees that its socket is closed.
void Runs::stop_server() {
  control_.close();
  if (server_.pid <= 0) return;
  constexpr int kGraceMilliseconds = 1000;
  pollfd end{server_.end.get(), POLLIN, 0};
  ::poll(&end, 1, kGraceMilliseconds);
  finish(server_);
}

void Runs::prepare() {
  if (prepared_) return;
  start_server();
  meet_server();
  prepared_ = true;
}

void Runs::start_server() {
  rewind(server_out_);
  rewind(server_err_);
  SocketPair sockets = make_sockets();
  server_ = launch(starter_, {.words = words_,
                              .depth = settings_.depth,
                              .socket = sockets.theirs.get(),
                              .out = server_out_.get(),
                              .err = server_err_.get(),
                              .folder = server_folder_});
  control_ = std::move(sockets.ours);
  ++starts_;
}

// Waits for it to come to its first random choice.
void Runs::meet_server() {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::duration<double>(start_limit_);
  bool open = true;
  std::optional<Packet> ready;
  while (!ready) {
    std::array<pollfd, 2> both{{{control_.get(), POLLIN, 0}, {server_.end.get(), POLLIN, 0}}};
    ::poll(both.data(), open ? 2 : 0, 100);
    try {
      if (both[0].revents != 0) ready = receive(control_.get(), open);
    } catch (const ProtocolError& error) {
      throw ProtocolError(fmt::format("attach: '{}' sent {}", command_, error.what()));
    }
    if (ready) break;
    if (both[1].revents != 0 || !open) {
      const int status = finish(server_);
      throw ModelError(fmt::format(
          "attach: '{}' ended ({}) without a random choice that psn can answer: is it linked "
          "statically, or does it draw by code of its own?{}",
          command_, ending(status), last_words(server_err_)));
    }
    if (Clock::now() > deadline) {
      finish(server_);
      throw ModelError(
          fmt::format("attach: '{}' came to no random choice within {} s", command_, start_limit_));
    }
  }
  if (ready->head.kind != wire::Kind::kReady) {
    throw ProtocolError(fmt::format("attach: '{}' sent no greeting", command_));
  }
  modules_ = modules_of(ready->head.run);
  limits_ = settings_.fresh ? "it is told to" : ready->text;
  if (workspace_.clean(server_folder_) && limits_.empty()) limits_ = "it has written files";
  printed_before_ = content(server_out_, kMostPrinted);
  if (!limits_.empty()) {
    control_.close();
    finish(server_);
  }
}

Runs::Seat& Runs::take_seat() {
  const auto free = std::find_if(seats_.begin(), seats_.end(), [](const auto& seat) {
    return seat->state == Seat::State::kFree;
  });
  if (free != seats_.end()) return **free;
  auto seat = std::make_unique<Seat>();
  seat->out = make_memory_file("psn-out");
  seat->err = make_memory_file("psn-err");
  seat->folder = workspace_.folder(seats_.size() + 1);
  seats_.push_back(std::move(seat));
  return *seats_.back();
}

std::uint64_t Runs::begin() {
  prepare();
  Seat& seat = take_seat();
  rewind(seat.out);
  rewind(seat.err);
  SocketPair sockets = make_sockets();
  seat.run = next_run_++;
  if (!limits_.empty()) {
    ++starts_;
    seat.child = launch(starter_, {.words = words_,
                                   .depth = settings_.depth,
                                   .socket = sockets.theirs.get(),
                                   .out = seat.out.get(),
                                   .err = seat.err.get(),
                                   .folder = seat.folder});
  } else {
    const std::array<int, wire::kDescriptors> given{sockets.theirs.get(), seat.out.get(),
                                                    seat.err.get()};
    if (!send(control_.get(), head_of(wire::Kind::kFork, seat.run), {}, seat.folder, given)) {
      throw ModelError(
          fmt::format("attach: '{}', which is copied for each run, has ended", command_));
    }
  }
  seat.socket = std::move(sockets.ours);
  seat.state = Seat::State::kRunning;
  seat.asks = false;
  return seat.run;
}

Runs::Seat* Runs::seat_of(std::uint64_t run) {
  const auto found = std::find_if(seats_.begin(), seats_.end(), [run](const auto& seat) {
    return seat->run == run && seat->state != Seat::State::kFree;
  });
  return found == seats_.end() ? nullptr : found->get();
}

const Runs::Seat& Runs::seat(std::uint64_t run) const {
  return **std::find_if(seats_.begin(), seats_.end(),
                        [run](const auto& seat) { return seat->run == run; });
}

void Runs::answer(std::uint64_t run, std::span<const double> values) {
  // One that has died meanwhile says so by its end.
  if (Seat* seat = seat_of(run)) {
    seat->asks = false;
    send(seat->socket.get(), head_of(wire::Kind::kValues), values, "");
  }
}

void Runs::kill(Seat& seat) {
  seat.state = Seat::State::kEnding;
  if (seat.child.pid > 0) {
    ::kill(-seat.child.pid, SIGKILL);
  } else {
    send(control_.get(), head_of(wire::Kind::kKill, seat.run), {}, "");
  }
}

void Runs::abandon(std::uint64_t run) {
  Seat* seat = seat_of(run);
  if (!seat) return;
  if (seat->state == Seat::State::kRunning) kill(*seat);
  if (seat->state == Seat::State::kEnded) release(run);
}

std::string Runs::printed(std::uint64_t run) const {
  const std::string own = content(seat(run).out, kMostPrinted);
  return limits_.empty() ? printed_before_ + own : own;
}

const std::string& Runs::folder(std::uint64_t run) const {
  return seat(run).folder;
}

void Runs::release(std::uint64_t run) {
  Seat* seat = seat_of(run);
  if (!seat) return;
  workspace_.clean(seat->folder);
  seat->state = Seat::State::kFree;
}

bool Runs::prints_too_much(std::uint64_t run) const {
  return size_of(seat(run).out) > kMostPrinted;
}

std::string Runs::last_words(const Descriptor& file) {
  std::string words = content(file, kMostPrinted);
  while (words.ends_with('\n')) words.pop_back();
  return words.empty() ? "" : "; it said: " + one_line(words, kLastWords);
}

void Runs::fail(Seat& seat, const std::string& cause, const std::string& detail,
                std::vector<Event>& events) {
  Event event{.run = seat.run, .what = Event::What::kFailed};
  event.cause = cause;
  event.detail = detail + last_words(seat.err);
  events.push_back(std::move(event));
}

void Runs::hear(Seat& seat, std::vector<Event>& events) {
  bool open = true;
  try {
    for (int i = 0; i < kMostPackets; ++i) {
      auto packet = receive(seat.socket.get(), open);
      if (!packet) break;
      if (seat.state != Seat::State::kRunning) continue;
      if (packet->head.kind == wire::Kind::kReady) {
        send(seat.socket.get(), head_of(wire::Kind::kGo), {}, "");
      } else if (packet->head.kind == wire::Kind::kDraw) {
        if (std::exchange(seat.asks, true))
          throw ProtocolError("a draw before the last was answered");
        Event event{.run = seat.run, .what = Event::What::kDraw};
        event.packet = std::move(*packet);
        events.push_back(std::move(event));
      } else {
        kill(seat);
        fail(seat, "refused", packet->text, events);
      }
    }
  } catch (const ProtocolError& error) {
    if (seat.state == Seat::State::kRunning) kill(seat);
    fail(seat, "sent garbage", error.what(), events);
  }
  if (!open) seat.socket.close();
}

void Runs::hear_server(std::vector<Event>& events) {
  bool open = true;
  while (const auto packet = receive(control_.get(), open)) {
    Seat* seat = seat_of(packet->head.run);
    if (!seat) continue;
    const int code = packet->head.code;
    if (packet->head.kind == wire::Kind::kEnded) ended(*seat, code, events);
    if (packet->head.kind != wire::Kind::kForked || code > 0) continue;
    if (seat->state == Seat::State::kRunning) {
      fail(*seat, "cannot be copied", fmt::format("error {}", -code), events);
    }
    seat->state = Seat::State::kFree;
  }
  if (open) return;
  throw ModelError(fmt::format("attach: '{}', which is copied for each run, has ended ({}){}",
                               command_, ending(finish(server_)), last_words(server_err_)));
}

void Runs::ended(Seat& seat, int status, std::vector<Event>& events) {
  if (seat.socket.get() >= 0) hear(seat, events);  // what it said before
  seat.socket.close();
  if (seat.state == Seat::State::kEnding) {
    workspace_.clean(seat.folder);
    seat.state = Seat::State::kFree;
    return;
  }
  if (WIFSIGNALED(status)) {
    fail(seat, "died", ending(status), events);
    workspace_.clean(seat.folder);
    seat.state = Seat::State::kFree;
    return;
  }
  seat.state = Seat::State::kEnded;
  Event event{.run = seat.run, .what = Event::What::kEnded};
  event.exit_code = WEXITSTATUS(status);
  events.push_back(std::move(event));
}

std::vector<Event> Runs::wait(int milliseconds) {
  std::vector<pollfd> watched{{control_.get(), POLLIN, 0}};
  std::vector<Seat*> speakers, mortals;
  for (const auto& seat : seats_) {
    if (seat->state != Seat::State::kRunning && seat->state != Seat::State::kEnding) continue;
    if (seat->socket.get() < 0) continue;
    watched.push_back({seat->socket.get(), POLLIN, 0});
    speakers.push_back(seat.get());
  }
  for (const auto& seat : seats_) {
    if (seat->child.pid <= 0) continue;
    watched.push_back({seat->child.end.get(), POLLIN, 0});
    mortals.push_back(seat.get());
  }
  std::vector<Event> events;
  if (::poll(watched.data(), watched.size(), milliseconds) <= 0) return events;
  for (std::size_t i = 0; i < speakers.size(); ++i) {
    if (watched[i + 1].revents != 0) hear(*speakers[i], events);
  }
  for (std::size_t i = 0; i < mortals.size(); ++i) {
    if (watched[i + 1 + speakers.size()].revents == 0) continue;
    const int status = finish(mortals[i]->child);
    ended(*mortals[i], status, events);
  }
  if (watched[0].revents != 0) hear_server(events);
  return events;
}

}  // namespace psn::attach
