// The evidence that a verdict stands on, for people.
#pragma once

#include "psn/evidence/tests.h"

namespace psn::app {

// The last lines on stdout: passed, or why not, and how sure that is.
void print_verdict(const evidence::Verdict& verdict);

}  // namespace psn::app
