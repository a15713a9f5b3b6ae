#include "psn/core/failure_log.h"

#include <fmt/format.h>

#include <algorithm>

#include "psn/base/error.h"
#include "psn/base/text.h"

namespace psn {

std::string Failures::causes() const {
  std::string text;
  for (const auto& [cause, count] : by_cause) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, cause);
  }
  return text;
}

void FailureLog::add(std::uint64_t trace, const std::string& cause, const std::string& story) {
  const std::string shown = one_line(story);
  const std::lock_guard lock(mutex_);
  ++failures_.runs;
  ++failures_.by_cause[cause];
  if (trace >= last_trace_) {
    last_trace_ = trace;
    failures_.last = shown;
  }
  if (limit_ == 0) throw ModelError(shown);
  if (failures_.runs > limit_) {
    throw ModelError(
        fmt::format("{} runs of the simulator failed ({}), more than the {} allowed; {}",
                    failures_.runs, failures_.causes(), limit_, shown));
  }
  const std::uint64_t hopeless = std::max<std::uint64_t>(
      10 * side_by_side_.load(), std::clamp<std::uint64_t>(limit_ / 10, 10, 1'000));
  if (failures_.runs >= hopeless && !any_success_.load()) {
    throw ModelError(fmt::format("{} runs of the simulator failed ({}), and none succeeded; {}",
                                 failures_.runs, failures_.causes(), shown));
  }
}

Failures FailureLog::failures() const {
  const std::lock_guard lock(mutex_);
  return failures_;
}

void FailureLog::forget() {
  const std::lock_guard lock(mutex_);
  failures_ = {};
  last_trace_ = 0;
}

}  // namespace psn
