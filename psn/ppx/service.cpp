#include "psn/ppx/service.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "psn/base/error.h"
#include "psn/ppx/socket.h"

namespace psn::ppx {

Service::Service(Simulator& simulator, const ServeOptions& options, Send send, Clock clock)
    : simulator_(simulator),
      options_(options),
      send_(std::move(send)),
      clock_(std::move(clock)),
      max_runs_(
          std::min({options.max_runs, simulator.max_simulations(), simulator.max_threads()})) {}

bool Service::take(const Engine& engine, std::span<const std::byte> bytes) {
  bool sense = true;
  try {
    const Message message = decode(bytes);
    if (std::holds_alternative<Run>(message)) {
      forget(engine);
      waiting_.push_back(engine);
    } else {
      send(engine, reply(engine, message));
    }
  } catch (const std::exception& error) {  // of whatever kind: other engines go on
    sense = dynamic_cast<const ProtocolError*>(&error) == nullptr;
    refuse(engine, error.what());
  }
  admit();
  return sense;
}

void Service::refuse(const Engine& engine, const std::string& why) {
  constexpr int kMaxComplaints = 20;  // a flood of nonsense shall not flood the log
  if (runs_.contains(engine) || ++complaints_ <= kMaxComplaints) log(why);
  forget(engine);
  send(engine, Reset{});
}

void Service::leave(const Engine& engine) {
  forget(engine);
}

void Service::admit() {
  while (!waiting_.empty()) {
    if (runs_.size() >= max_runs_) make_room();
    if (runs_.size() >= max_runs_) return;
    const Engine engine = std::move(waiting_.front());
    waiting_.pop_front();
    try {
      begin(engine);
    } catch (const std::exception& error) {
      refuse(engine, error.what());
    }
  }
}

Message Service::reply(const Engine& engine, const Message& message) {
  if (std::holds_alternative<Handshake>(message)) {
    forget(engine);
    return HandshakeResult{system_name(), simulator_.name()};
  }
  const auto current = runs_.find(engine);
  if (current == runs_.end()) {
    throw ProtocolError(
        fmt::format("the engine sent {} when it was asked for nothing", message_name(message)));
  }
  return current->second.run.answer(message);
}

void Service::begin(const Engine& engine) {
  std::unique_ptr<Ensemble> ensemble;
  if (idle_.empty()) {
    ensemble = simulator_.ensemble(1);
  } else {
    ensemble = std::move(idle_.back());
    idle_.pop_back();
  }
  const std::uint64_t number = begun_++;
  Current& current =
      runs_.try_emplace(engine, ServedRun(std::move(ensemble), !options_.withhold_data), Time())
          .first->second;
  send(engine, current.run.start({number}, Rng(options_.seed, number)));
}

void Service::make_room() {
  const auto silent = std::min_element(
      runs_.begin(), runs_.end(),
      [](const auto& a, const auto& b) { return a.second.asked < b.second.asked; });
  if (silent == runs_.end() || clock_() - silent->second.asked < options_.patience) return;
  log("an engine fell silent in the middle of a run, and others wait: it is given up");
  runs_.erase(silent);
}

void Service::send(const Engine& engine, const Message& message) {
  send_(engine, encoder_.encode(message));  // throws for a distribution that PPX lacks
  const auto current = runs_.find(engine);
  if (current == runs_.end()) return;
  if (std::holds_alternative<RunResult>(message)) {
    idle_.push_back(current->second.run.take_ensemble());
    runs_.erase(current);
  } else {
    current->second.asked = clock_();
  }
}

void Service::forget(const Engine& engine) {
  runs_.erase(engine);
  std::erase(waiting_, engine);
}

void Service::log(const std::string& line) {
  if (options_.log) options_.log(line);
}

}  // namespace psn::ppx
