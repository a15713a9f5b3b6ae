// FailureLog: counts runs, and those that a simulator could not finish, and says when there are too
// many of these.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace psn {

// Runs that a simulator could not finish.
struct Failures {
  std::uint64_t runs = 0;
  std::map<std::string, std::uint64_t> by_cause;
  std::string last;  // what the last one was, with the last lines of the simulator's own output

  std::string causes() const;  // "3 died, 1 hung"
};

// Thread-safe.
class FailureLog {
 public:
  explicit FailureLog(std::uint64_t limit) : limit_(limit) {}
  // Simulations begin or end to run side by side.
  void enter(std::size_t simulations) { side_by_side_ += simulations; }
  void leave(std::size_t simulations) { side_by_side_ -= simulations; }
  void began() { begun_.fetch_add(1, std::memory_order_relaxed); }
  std::uint64_t begun() const { return begun_.load(); }
  // Of the run of a trace. Throws ModelError, with the story, above the limit; or earlier, if none
  // has succeeded yet after a tenth of the limit (but at least 10 and at most 1,000 runs) and after
  // ten for each simulation side by side: runs that fail may be shorter than others.
  void add(std::uint64_t trace, const std::string& cause, const std::string& story);
  void succeeded() {
    if (!any_success_.load(std::memory_order_relaxed)) any_success_.store(true);
  }
  Failures failures() const;
  void forget();

 private:
  const std::uint64_t limit_;
  std::atomic<std::uint64_t> begun_{0};
  std::atomic<bool> any_success_{false};
  std::atomic<std::size_t> side_by_side_{0};
  mutable std::mutex mutex_;
  Failures failures_;
  std::uint64_t last_trace_ = 0;  // the last by number, so that threads do not decide which it is
};

}  // namespace psn
