#include "apps/psn/output/status_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace psn::app {

StatusLine::StatusLine()
    : terminal_(::isatty(STDERR_FILENO) == 1),
      pause_(terminal_ ? 1 : 30),
      next_(Clock::now() + pause_) {}

bool StatusLine::due() const {
  const std::lock_guard lock(mutex_);
  return Clock::now() >= next_;
}

void StatusLine::show(const std::string& line) {
  const std::lock_guard lock(mutex_);
  const auto now = Clock::now();
  if (now < next_) return;
  next_ = now + pause_;
  std::fputs((terminal_ ? "\r\033[K" + line : line + "\n").c_str(), stderr);
  shown_ = true;
}

void StatusLine::clear() {
  const std::lock_guard lock(mutex_);
  if (terminal_ && shown_) std::fputs("\r\033[K", stderr);
  shown_ = false;
}

}  // namespace psn::app
