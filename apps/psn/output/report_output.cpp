#include "apps/psn/output/report_output.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "psn/services/warnings.h"

namespace psn::app {

void tell_of_runs(const services::RunReport& report) {
  if (const auto& fallbacks = report.fallbacks) {
    fmt::print(
        stderr,
        "psn: {} traces went on in '{}' at an unknown address; {} times it could not have made "
        "the choices so far, and the surrogate went on\n",
        fallbacks->taken, fallbacks->simulator, fallbacks->refused);
  }
  if (!report.started_anew.empty()) {
    fmt::print(stderr, "psn: the program is started anew for each run: {}\n", report.started_anew);
  }
  warn_of_failures(report.failures);
}

void warn_of_failures(const Failures& failures) {
  print_warnings(services::failure_warnings(failures));
}

void print_learned_tags(const std::vector<std::string>& learned) {
  if (learned.empty()) return;
  fmt::print("learned by the surrogate, not computed: {}\n", fmt::join(learned, ", "));
}

void print_surrogate_quality(const services::RunReport& report, const std::string& about) {
  if (!report.surrogate) return;
  if (const auto& kl = report.surrogate->kl) {
    fmt::print(
        "the surrogate's KL from its simulator {:.4f} +- {:.4f} nats per trace ({} held out)",
        kl->nats, kl->standard_error, kl->traces);
  } else {
    fmt::print("the surrogate's KL from its simulator is not known");
  }
  if (!about.empty()) fmt::print("; ESS and {} are about the surrogate", about);
  fmt::print("\n");
}

void print_warnings(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) {
    fmt::print(stderr, "psn: warning: {}\n", warning);
  }
}

}  // namespace psn::app
