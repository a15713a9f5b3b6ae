#include "apps/psn/watch.h"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

#include "apps/psn/exit_codes.h"

namespace psn::app {
namespace {

// A signal handler can reach nothing but a global.
std::atomic<bool> stop_requested{false};  // NOLINT(*-avoid-non-const-global-variables)

void request_stop(int signal) {
  stop_requested.store(true);
  std::signal(signal, SIG_DFL);  // the second one ends the program at once
}

}  // namespace

bool stderr_is_terminal() {
  return ::isatty(STDERR_FILENO) == 1;
}

Watch::Watch(Options options) : options_(std::move(options)) {
  std::signal(SIGINT, request_stop);
  std::signal(SIGTERM, request_stop);
  thread_ = std::thread([this] { loop(); });
}

Watch::~Watch() {
  done_.store(true);
  thread_.join();
  if (shown_) std::fputs("\r\033[K", stderr);
}

double Watch::seconds() const {
  return std::chrono::duration<double>(Clock::now() - start_).count();
}

void Watch::loop() {
  for (int tick = 0; !done_.load(); ++tick) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (stop_requested.load()) monitor_.stop.store(true);
    if (options_.time_limit > 0) check_for_hang();
    if (options_.progress && tick % 10 == 9) show_progress();
  }
}

void Watch::show_progress() {
  const std::uint64_t traces = monitor_.traces.load();
  std::fputs(fmt::format("\r\033[K{}: {} of {} traces, {:.0f}/s", options_.label, traces,
                         options_.total, static_cast<double>(traces) / seconds())
                 .c_str(),
             stderr);
  shown_ = true;
}

void Watch::check_for_hang() {
  const auto now = Clock::now();
  monitor_.each_thread([&](const Heartbeat& heartbeat) {
    const std::uint64_t steps = heartbeat.steps.load(std::memory_order_acquire);
    auto [place, added] = seen_.try_emplace(&heartbeat, Seen{steps, now});
    Seen& seen = place->second;
    if (seen.steps != steps || !heartbeat.running.load()) {
      seen = {steps, now};
      return;
    }
    if (std::chrono::duration<double>(now - seen.since).count() < options_.time_limit) return;
    const Address* last = heartbeat.last.load();
    std::fputs(fmt::format("{}psn: error: {}, trace {}: no random choice for {} s {}; raise "
                           "--time-limit if the simulator is that slow\n",
                           shown_ ? "\r\033[K" : "", options_.label, heartbeat.trace.load(),
                           options_.time_limit,
                           last ? fmt::format("after '{}'", last->text) : "from its start")
                   .c_str(),
               stderr);
    ::_exit(kModelFailed);
  });
}

}  // namespace psn::app
