// What a trace says: the statements of a program, in order, and its text as Python. Traces of a
// surrogate may be wrong in any way; they still have statements and a text.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/program_synthesis/program_synthesis.h"
#include "psn/core/trace.h"

namespace psn::program_synthesis {

// One decision of a kind; a kClose is no line of the text.
struct Statement {
  Kind kind;
  std::size_t depth;
  std::size_t entry;  // of the trace, where the decision was made
};
std::vector<Statement> statements(const Trace& trace);
// The depth of a choice named kind_d0, kind_d1, ...; nullopt for others.
std::optional<std::size_t> depth_of_kind(std::string_view name);

struct Size {
  std::size_t lines = 0;
  std::size_t depth = 0;  // of the deepest line
};
Size size(const std::vector<Statement>& statements);

// def f(x), four spaces a level. A choice that a statement lacks is written as "?".
std::string render(const Trace& trace);

}  // namespace psn::program_synthesis
