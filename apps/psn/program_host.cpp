#include "apps/psn/program_host.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>

#include "apps/psn/built_in_models.h"
#include "apps/psn/ranks.h"
#include "psn/base/signal_stack.h"
#include "psn/base/text.h"
#include "psn/services/option_names.h"

namespace psn::app {
namespace {

// A signal handler can reach nothing but a global.
std::atomic<bool> stop_requested{false};  // NOLINT(*-avoid-non-const-global-variables)

void request_stop(int signal) {
  stop_requested.store(true);
  std::signal(signal, SIG_DFL);  // the second one ends the program at once
}

}  // namespace

ProgramHost::ProgramHost(bool progress, double time_limit)
    : progress_(progress && app::ranks().leads()), time_limit_(time_limit) {}

std::vector<Model> ProgramHost::models() const {
  return built_in_models();
}

Communicator& ProgramHost::ranks() {
  return app::ranks();
}

void ProgramHost::work_begins(const services::Work& work) {
  handle_signal(SIGINT, request_stop);
  handle_signal(SIGTERM, request_stop);
  // Under nohup the end of the session is none of ours.
  if (handle_signal(SIGHUP, request_stop) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);
  work_ = work;
  start_ = Clock::now();
  line_.emplace();
  done_.store(false);
  thread_ = std::thread([this] { look_after(); });
}

void ProgramHost::work_ends() {
  if (done_.exchange(true)) return;
  thread_.join();
  line_->clear();
}

double ProgramHost::seconds() const {
  return std::chrono::duration<double>(Clock::now() - start_).count();
}

void ProgramHost::work_goes_on_from(std::uint64_t traces) {
  Host::work_goes_on_from(traces);
  const std::lock_guard lock(mutex_);
  begun_ = {traces, seconds()};
}

void ProgramHost::note(const std::string& text) {
  const std::lock_guard lock(mutex_);
  note_ = text;
}

void ProgramHost::look_after() {
  while (!done_.load()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (stop_requested.load()) monitor().stop.store(true);
    look_for_hang();
    if (progress_ && line_->due()) line_->show(progress_line());
  }
}

std::string ProgramHost::progress_line() const {
  const std::lock_guard lock(mutex_);
  const std::uint64_t traces = monitor().traces.load();
  const auto [before, at] = begun_;
  const double rate =
      static_cast<double>(traces - std::min(traces, before)) / std::max(1e-9, seconds() - at);
  return work_.label + ": " + progress_text(traces, work_.total, rate, note_);
}

double ProgramHost::idle(const Heartbeat& heartbeat, Clock::time_point now) {
  const std::uint64_t steps = heartbeat.steps.load(std::memory_order_acquire);
  Observed& observed = observed_.try_emplace(&heartbeat, Observed{steps, now}).first->second;
  if (observed.steps != steps || !heartbeat.running.load()) observed = {steps, now};
  const auto since = stopped_ ? std::max(observed.since, *stopped_) : observed.since;
  return std::chrono::duration<double>(now - since).count();
}

void ProgramHost::look_for_hang() {
  const auto now = Clock::now();
  if (!stopped_ && monitor().stop.load()) stopped_ = now;
  constexpr double kPatience = 2;  // with a simulation that should have stopped; seconds
  monitor().each_thread([&](const Heartbeat& heartbeat) {
    const double seconds = idle(heartbeat, now);
    if (verdict_) return;
    if (stopped_) {
      if (seconds >= kPatience) verdict_ = {"interrupted", kInterrupted};
    } else if (time_limit_ > 0 && seconds >= time_limit_) {
      const Address* last = heartbeat.last.load();
      verdict_ = {fmt::format("{}, trace {}: no random choice for {} s {}; raise --time-limit if "
                              "the simulator is that slow",
                              work_.label, heartbeat.trace.load(), time_limit_,
                              last ? fmt::format("after '{}'", last->text) : "from its start"),
                  kModelFailed};
      monitor().stop.store(true);
    }
  });
  // Whoever has work to put into safety has been told to.
  if (verdict_ && monitor().unsaved.load() == 0) end_program(*verdict_);
}

void ProgramHost::end_program(const Verdict& verdict) {
  line_->clear();
  std::string where;
  try {
    if (work_.rescue) where = work_.rescue();
  } catch (const std::exception& error) {
    where = fmt::format("; what there was is lost: {}", error.what());
  }
  std::fputs(fmt::format("psn: error: {}{}\n", verdict.message, services::with_option_names(where))
                 .c_str(),
             stderr);
  ::_exit(verdict.code);
}

}  // namespace psn::app
