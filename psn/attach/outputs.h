// Numbers that a run leaves: on stdout, in files that it writes, as its exit code.
#pragma once

#include <string>
#include <vector>

#include "psn/attach/settings.h"

namespace psn::attach {

struct Leavings {
  std::string printed;
  const std::string& folder;
  int exit_code = 0;
};

// All that the output has: one number unless it is a list, of which the last counts. Throws
// ModelError, which says what is not there.
std::vector<double> numbers_of(const Output& output, const Leavings& run);

}  // namespace psn::attach
