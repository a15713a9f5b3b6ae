// Watch: a second pair of eyes on a run. Shows progress, turns Ctrl-C, SIGTERM and SIGHUP into a
// clean stop, and ends the program if a simulation hangs: in-process code cannot be stopped
// otherwise.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>

#include "apps/psn/exit_codes.h"
#include "apps/psn/output/status_line.h"
#include "psn/base/error.h"
#include "psn/core/run.h"

namespace psn::app {

// Stopped by a signal, with what is left of the work: "; 's.checkpoint.psn' holds ...".
class InterruptedWork : public Interrupted {
 public:
  explicit InterruptedWork(const std::string& hint) : text_("interrupted" + hint) {}
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

class Watch {
 public:
  struct Options {
    std::string label;
    std::uint64_t total = 0;  // traces; 0: unknown
    double time_limit = 0;    // seconds without a step before a simulation counts as hung; 0: none
    bool progress = false;
    // Called before the program is ended under a simulation that does not come back: puts into
    // safety what there is, and says where, to end the message with.
    std::function<std::string()> last_words;
  };

  explicit Watch(Options options);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  Monitor& monitor() { return monitor_; }
  double seconds() const;  // since construction
  // So many traces were there before this run; they are no part of its speed.
  void start_at(std::uint64_t traces);
  // Shown with the progress, such as a loss.
  void note(std::string text);

 private:
  using Clock = std::chrono::steady_clock;
  struct Seen {
    std::uint64_t steps = 0;
    Clock::time_point since;
  };
  struct Verdict {
    std::string message;
    ExitCode code;
  };

  void loop();
  std::string progress_line() const;
  void look_for_hang();
  // Seconds that it has not moved for, and not been asked to stop for if it was.
  double idle(const Heartbeat& heartbeat, Clock::time_point now);
  void end(const Verdict& verdict);

  Options options_;
  Monitor monitor_;
  Clock::time_point start_ = Clock::now();
  std::unordered_map<const Heartbeat*, Seen> seen_;
  std::optional<Clock::time_point> stopped_;
  std::optional<Verdict> verdict_;
  StatusLine line_;
  mutable std::mutex mutex_;  // of the two below
  std::string note_;
  std::pair<std::uint64_t, double> begun_{0, 0};  // traces and seconds at the beginning
  std::atomic<bool> done_{false};
  std::thread thread_;
};

}  // namespace psn::app
