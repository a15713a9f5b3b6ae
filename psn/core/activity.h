// Activity: which simulation a thread is running, so that a crash can be put down to it. A handler
// of signals can reach nothing but variables of the thread: all of this is safe there.
#pragma once

#include <cstddef>
#include <cstdint>

#include "psn/core/address.h"

namespace psn {

struct Activity {
  const char* model = "";
  std::uint64_t trace = 0;
  const Address* last = nullptr;  // what the trace reached last; null: nothing yet
  std::size_t stack_size = 0;     // in bytes
};

// Of this thread; null while no program runs.
const Activity* current_activity();
// From now on; returns the one before.
const Activity* set_activity(const Activity* activity);

}  // namespace psn
