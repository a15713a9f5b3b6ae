#include "experiments/program_synthesis/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace psn::program_synthesis {
namespace {

// The values that follow a statement's decision and belong to it, by name.
class Details {
 public:
  Details(const Trace& trace, const Statement& statement) : trace_(trace), at_(statement.entry) {}

  // The next entry if it is the one that the statement wants.
  const Value* next(std::string_view name) {
    if (at_ + 1 >= trace_.entries.size()) return nullptr;
    const Entry& entry = trace_.entries[at_ + 1];
    if (!entry.address->name().starts_with(name)) return nullptr;
    ++at_;
    return &entry.value;
  }

  std::string number(std::string_view name) {
    const Value* value = next(name);
    return value ? fmt::format("{:.4f}", value->scalar()) : "?";
  }

  std::string choice(std::string_view name, std::initializer_list<const char*> texts) {
    const Value* value = next(name);
    return value ? texts.begin()[value->integer()] : "?";
  }

 private:
  const Trace& trace_;
  std::size_t at_;
};

std::string text(const Trace& trace, const Statement& statement) {
  Details details(trace, statement);
  switch (statement.kind) {
    case Kind::kAssign: {
      const std::string start = details.choice("form_d", {"y = ", "y = y + "});
      const std::string a = details.number("a_d");
      return fmt::format("{}{}*x + {}", start, a, details.number("b_d"));
    }
    case Kind::kIf: {
      const std::string comparison = details.choice("cmp_d", {"<", ">"});
      return fmt::format("if x {} {}:", comparison, details.number("t_d"));
    }
    case Kind::kElse:
      return "else:";
    case Kind::kFor:
      return fmt::format("for _ in range({}):", details.choice("n_d", {"2", "3", "4"}));
    case Kind::kClose:
      break;
  }
  return "";
}

}  // namespace

std::optional<std::size_t> depth_of_kind(std::string_view name) {
  constexpr std::string_view kName = "kind_d";
  if (!name.starts_with(kName)) return std::nullopt;
  std::size_t depth = 0;
  std::from_chars(name.data() + kName.size(), name.data() + name.size(), depth);
  return depth;
}

std::vector<Statement> statements(const Trace& trace) {
  std::vector<Statement> result;
  for (std::size_t i = 0; i < trace.entries.size(); ++i) {
    if (const auto depth = depth_of_kind(trace.entries[i].address->name())) {
      result.push_back({static_cast<Kind>(trace.entries[i].value.integer()), *depth, i});
    }
  }
  return result;
}

Size size(const std::vector<Statement>& statements) {
  Size result;
  for (const Statement& statement : statements) {
    if (statement.kind == Kind::kClose) continue;
    ++result.lines;
    result.depth = std::max(result.depth, statement.depth);
  }
  return result;
}

std::string render(const Trace& trace) {
  std::string program = "def f(x):\n    y = 0.0\n";
  for (const Statement& statement : statements(trace)) {
    if (statement.kind == Kind::kClose) continue;
    program.append(4 * (statement.depth + 1), ' ');
    program += text(trace, statement) + "\n";
  }
  return program + "    return y\n";
}

}  // namespace psn::program_synthesis
