// Watch: a second pair of eyes on a run. Shows progress on a terminal, turns Ctrl-C into a clean
// stop, and ends the program if a simulation hangs: in-process code cannot be stopped otherwise.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <unordered_map>

#include "psn/core/run.h"

namespace psn::app {

class Watch {
 public:
  struct Options {
    std::string label;
    std::uint64_t total = 0;  // traces
    double time_limit = 0;    // seconds without a step before a simulation counts as hung; 0: none
    bool progress = false;
  };

  explicit Watch(Options options);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  Monitor& monitor() { return monitor_; }
  double seconds() const;  // since construction

 private:
  using Clock = std::chrono::steady_clock;
  void loop();
  void show_progress();
  void check_for_hang();

  Options options_;
  Monitor monitor_;
  Clock::time_point start_ = Clock::now();
  struct Seen {
    std::uint64_t steps = 0;
    Clock::time_point since;
  };
  std::unordered_map<const Heartbeat*, Seen> seen_;
  std::atomic<bool> done_{false};
  bool shown_ = false;
  std::thread thread_;
};

// True if stderr is a terminal that a person watches.
bool stderr_is_terminal();

}  // namespace psn::app
