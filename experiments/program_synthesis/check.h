// Two checkers of programs. The strict one runs the simulator with the values of a trace: it knows
// all that the simulator would have done. The other one reads the text alone.
#pragma once

#include <array>
#include <string_view>

#include "psn/core/model.h"

namespace psn::program_synthesis {

// The first thing in a trace that the simulator would not have done.
enum class Fault {
  kNone,
  kElse,      // an else that follows no if
  kEmpty,     // a body, or the whole program, closed while empty
  kAddress,   // another address than the simulator's
  kEarlyEnd,  // the trace ends where the simulator goes on
  kLateEnd,   // the trace goes on where the simulator ends
};
inline constexpr std::array<std::string_view, 6> kFaultNames{
    "none", "else_without_if", "empty_body", "wrong_address", "early_end", "late_end"};

// Not thread-safe: each thread has its own.
class StrictChecker {
 public:
  Fault check(const Trace& trace);

 private:
  AddressTable table_;
  AddressCache addresses_{table_};
};

// Whether the text of a whole program is right: indentation, openers with bodies, each else after
// an if on its level, no statement with a gap.
bool valid_text(std::string_view program);

}  // namespace psn::program_synthesis
