// StatusLine: how far the work is, on stderr. On a terminal one line that changes every second, in
// a log a line every 30 seconds. Any thread may write it.
#pragma once

#include <chrono>
#include <mutex>
#include <string>

namespace psn::app {

class StatusLine {
 public:
  StatusLine();
  bool due() const;
  // Written if it is due.
  void show(const std::string& line);
  // Off the terminal, so that something else may be written.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  const bool terminal_;
  const std::chrono::seconds pause_;
  mutable std::mutex mutex_;
  Clock::time_point next_;
  bool shown_ = false;
};

}  // namespace psn::app
