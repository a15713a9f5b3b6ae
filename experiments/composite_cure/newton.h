// Newton's method, as both simulators use it in every step.
#pragma once

#include <fmt/format.h>

#include "psn/base/error.h"

namespace psn::composite_cure {

// Calls iterate(), which returns the largest change of a temperature, until that is small. The
// error is squared by each iteration: after a change of this size it is below 1e-4 C.
template <class Iterate>
void solve_by_newton(double time, Iterate iterate) {
  constexpr double kSmall = 0.03;
  constexpr int kMost = 25;
  for (int k = 0; k < kMost; ++k) {
    if (iterate() <= kSmall) return;
  }
  throw ModelError(fmt::format("heat equation: Newton's method fails at {:.0f} s", time));
}

}  // namespace psn::composite_cure
