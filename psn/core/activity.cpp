#include "psn/core/activity.h"

#include <utility>

namespace psn {
namespace {

// NOLINTNEXTLINE(*-avoid-non-const-global-variables)
[[gnu::tls_model("initial-exec")]] thread_local const Activity* activity_of_thread = nullptr;

}  // namespace

const Activity* current_activity() {
  return activity_of_thread;
}

const Activity* set_activity(const Activity* activity) {
  return std::exchange(activity_of_thread, activity);
}

}  // namespace psn
