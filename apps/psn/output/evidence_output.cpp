#include "apps/psn/output/evidence_output.h"

#include <fmt/format.h>

#include "psn/services/option_names.h"

namespace psn::app {

void print_verdict(const evidence::Verdict& verdict) {
  const std::size_t count = verdict.tests.size();
  const std::string tests = count == 1 ? "one test" : fmt::format("{} tests", count);
  if (verdict.passed) {
    fmt::print("\npassed: nothing wrong found by {}\n", tests);
    return;
  }
  if (verdict.undecided) {
    fmt::print("\nUNDECIDED: none of {} fails, but that is not enough to pass\n", tests);
    return;
  }
  fmt::print("\nFAILED ({}; something sound fails in {:.2g} % of cases at most)\n", tests,
             100 * verdict.false_alarm_rate);
  for (const std::string& reason : services::with_option_names(verdict.reasons)) {
    fmt::print("  - {}\n", reason);
  }
}

}  // namespace psn::app
