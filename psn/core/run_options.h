// What a run is told, and how it looks from outside.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>

#include "psn/core/ensemble.h"
#include "psn/core/observations.h"

namespace psn {

// How a run looks from outside, and how to end it from there. Shared by all threads of a run.
class Monitor {
 public:
  std::atomic<std::uint64_t> traces{0};  // finished so far
  std::atomic<bool> stop{false};         // set it to end the run with Interrupted
  // How many have work in their hands that they will put into safety when told to stop; the program
  // must not end under them.
  std::atomic<int> unsaved{0};

  // A heartbeat for one more thread; lives as long as the monitor.
  Heartbeat* add_thread();
  // Calls f(const Heartbeat&) for each thread's.
  template <class F>
  void each_thread(F f) const {
    const std::lock_guard lock(mutex_);
    for (const Heartbeat& heartbeat : heartbeats_) f(heartbeat);
  }

 private:
  mutable std::mutex mutex_;
  std::deque<Heartbeat> heartbeats_;
};

// As long as it lives, the monitor (may be null) has one more with unsaved work.
class Unsaved {
 public:
  explicit Unsaved(Monitor* monitor) : monitor_(monitor) {
    if (monitor_) monitor_->unsaved.fetch_add(1);
  }
  ~Unsaved() {
    if (monitor_) monitor_->unsaved.fetch_sub(1);
  }
  Unsaved(const Unsaved&) = delete;
  Unsaved& operator=(const Unsaved&) = delete;

 private:
  Monitor* monitor_;
};

struct RunOptions {
  std::uint64_t seed = 0;
  // The data to condition on, at observations and at latents. Null: a forward simulation, in which
  // every observation is drawn.
  const Observations* observations = nullptr;
  // Latents to hold at a value (an intervention): they take it, count for nothing in any density or
  // weight, and no guide chooses them. Null: none.
  const Observations* held = nullptr;
  // Whether what is observed must have a density. If not, an observation that the program computes
  // is on record with what was measured, and weighs nothing: for answers that are not weighed.
  bool weighs = true;
  std::size_t max_length = 1'000'000;  // of a trace; longer ones are a ModelError
  bool keep_distributions = false;     // in the trace's entries
  Monitor* monitor = nullptr;          // optional
  Heartbeat* heartbeat = nullptr;      // of this thread; null: a new one of the monitor's
  std::uint64_t first = 0;             // for run_traces(): the index of its first trace
  // For run_traces(): traces that need not be run. Called by several threads at once.
  std::function<bool(std::uint64_t index)> skip;
  // For run_traces(): told the index of each trace that the simulator could not finish, from
  // several threads at once. Null: such a trace ends the run with a ModelError.
  std::function<void(std::uint64_t index)> failed;
  // Set by another thread of the same operation that failed: run() then returns early.
  const std::atomic<bool>* cancelled = nullptr;
};

}  // namespace psn
