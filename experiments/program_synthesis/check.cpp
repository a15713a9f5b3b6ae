#include "experiments/program_synthesis/check.h"

#include <vector>

#include "experiments/program_synthesis/program_synthesis.h"
#include "psn/base/numerics.h"

namespace psn::program_synthesis {
namespace {

// Answers the simulator with the values of a trace, as long as they fit.
class Replay : public Channel {
 public:
  explicit Replay(const Trace& trace) : trace_(trace) {}

  Value ask(const Request& request) override {
    if (at_end()) throw Fault::kEarlyEnd;
    const Entry& entry = trace_.entries[at_++];
    if (entry.address->text != request.address->text) throw Fault::kAddress;
    if (request.distribution->log_prob(entry.value) == -kInfinity) {
      throw static_cast<Kind>(entry.value.integer()) == Kind::kElse ? Fault::kElse : Fault::kEmpty;
    }
    return entry.value;
  }

  bool at_end() const { return at_ == trace_.entries.size(); }

 private:
  const Trace& trace_;
  std::size_t at_ = 0;
};

constexpr std::string_view kHead = "def f(x):\n    y = 0.0\n", kFoot = "    return y\n";

}  // namespace

Fault StrictChecker::check(const Trace& trace) {
  static const Model simulator = model();
  Replay replay(trace);
  Context context(replay, addresses_);
  try {
    simulator.program(context);
  } catch (const Fault fault) {
    return fault;
  }
  return replay.at_end() ? Fault::kNone : Fault::kLateEnd;
}

bool valid_text(std::string_view program) {
  if (!program.starts_with(kHead) || !program.ends_with(kFoot)) return false;
  program.remove_prefix(kHead.size());
  if (program.size() <= kFoot.size()) return false;
  program.remove_suffix(kFoot.size());
  std::vector<bool> after_if;  // by level that is open: its last statement is an if
  bool opened = true;          // the line before opened a body
  while (!program.empty()) {
    const std::string_view line = program.substr(0, program.find('\n'));
    program.remove_prefix(line.size() + 1);
    const std::size_t indent = line.find_first_not_of(' ');
    if (indent == std::string_view::npos || indent % 4 != 0 || indent == 0) return false;
    const std::size_t level = indent / 4;
    if (opened ? level != after_if.size() + 1 : level > after_if.size()) return false;
    const std::string_view statement = line.substr(indent);
    if (statement.find('?') != std::string_view::npos) return false;
    const bool follows_if = level <= after_if.size() && after_if[level - 1];
    if (statement == "else:" && !follows_if) return false;
    after_if.resize(level);
    after_if.back() = statement.starts_with("if ");
    opened = statement.ends_with(':');
  }
  return !opened;
}

}  // namespace psn::program_synthesis
