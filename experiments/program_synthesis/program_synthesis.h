// The paper's second experiment: program synthesis. The simulator writes Python programs of a
// piecewise-linear function with if, else and for nested to any depth. It keeps a stack; the text
// of a program is right only if a surrogate has learned what the stack does.
#pragma once

#include "psn/core/model.h"

namespace psn::program_synthesis {

// The values of kind_d0, kind_d1, ...: what is written next at that depth. kClose ends a body, at
// depth 0 the program.
enum class Kind { kAssign, kIf, kElse, kFor, kClose };
inline constexpr std::size_t kKinds = 5;

Model model();

}  // namespace psn::program_synthesis
