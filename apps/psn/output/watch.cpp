#include "apps/psn/output/watch.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>

#include "psn/base/text.h"

namespace psn::app {
namespace {

// A signal handler can reach nothing but a global.
std::atomic<bool> stop_requested{false};  // NOLINT(*-avoid-non-const-global-variables)

void request_stop(int signal) {
  stop_requested.store(true);
  std::signal(signal, SIG_DFL);  // the second one ends the program at once
}

}  // namespace

Watch::Watch(Options options) : options_(std::move(options)) {
  std::signal(SIGINT, request_stop);
  std::signal(SIGTERM, request_stop);
  // Under nohup the end of the session is none of ours.
  if (std::signal(SIGHUP, request_stop) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);
  thread_ = std::thread([this] { loop(); });
}

Watch::~Watch() {
  done_.store(true);
  thread_.join();
  line_.clear();
}

double Watch::seconds() const {
  return std::chrono::duration<double>(Clock::now() - start_).count();
}

void Watch::start_at(std::uint64_t traces) {
  monitor_.traces.store(traces);
  const std::lock_guard lock(mutex_);
  begun_ = {traces, seconds()};
}

void Watch::note(std::string text) {
  const std::lock_guard lock(mutex_);
  note_ = std::move(text);
}

void Watch::loop() {
  while (!done_.load()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (stop_requested.load()) monitor_.stop.store(true);
    look_for_hang();
    if (options_.progress && line_.due()) line_.show(progress_line());
  }
}

std::string Watch::progress_line() const {
  const std::lock_guard lock(mutex_);
  const std::uint64_t traces = monitor_.traces.load();
  const auto [before, at] = begun_;
  const double rate =
      static_cast<double>(traces - std::min(traces, before)) / std::max(1e-9, seconds() - at);
  return options_.label + ": " + progress_text(traces, options_.total, rate, note_);
}

double Watch::idle(const Heartbeat& heartbeat, Clock::time_point now) {
  const std::uint64_t steps = heartbeat.steps.load(std::memory_order_acquire);
  Seen& seen = seen_.try_emplace(&heartbeat, Seen{steps, now}).first->second;
  if (seen.steps != steps || !heartbeat.running.load()) seen = {steps, now};
  const auto since = stopped_ ? std::max(seen.since, *stopped_) : seen.since;
  return std::chrono::duration<double>(now - since).count();
}

void Watch::look_for_hang() {
  const auto now = Clock::now();
  if (!stopped_ && monitor_.stop.load()) stopped_ = now;
  constexpr double kPatience = 2;  // with a simulation that should have stopped; seconds
  monitor_.each_thread([&](const Heartbeat& heartbeat) {
    const double seconds = idle(heartbeat, now);
    if (verdict_) return;
    if (stopped_) {
      if (seconds >= kPatience) verdict_ = {"interrupted", kInterrupted};
    } else if (options_.time_limit > 0 && seconds >= options_.time_limit) {
      const Address* last = heartbeat.last.load();
      verdict_ = {fmt::format("{}, trace {}: no random choice for {} s {}; raise --time-limit if "
                              "the simulator is that slow",
                              options_.label, heartbeat.trace.load(), options_.time_limit,
                              last ? fmt::format("after '{}'", last->text) : "from its start"),
                  kModelFailed};
      monitor_.stop.store(true);
    }
  });
  // Whoever has work to put into safety has been told to.
  if (verdict_ && monitor_.unsaved.load() == 0) end(*verdict_);
}

void Watch::end(const Verdict& verdict) {
  line_.clear();
  std::string where;
  try {
    if (options_.last_words) where = options_.last_words();
  } catch (const std::exception& error) {
    where = fmt::format("; what there was is lost: {}", error.what());
  }
  std::fputs(fmt::format("psn: error: {}{}\n", verdict.message, where).c_str(), stderr);
  ::_exit(verdict.code);
}

}  // namespace psn::app
