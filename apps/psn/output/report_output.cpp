#include "apps/psn/output/report_output.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "psn/services/warnings.h"

namespace psn::app {

using services::kMostKl;

void add_report(const services::RunReport& report, nlohmann::ordered_json& json) {
  if (report.surrogate) {
    auto& quality = json["surrogate"] = {{"kl_nats_per_trace", nullptr}, {"kl_threshold", kMostKl}};
    if (const auto& kl = report.surrogate->kl) {
      quality["kl_nats_per_trace"] = kl->nats;
      quality["kl_standard_error"] = kl->standard_error;
      quality["held_out_traces"] = kl->traces;
    }
  }
  if (report.fallbacks) {
    json["fallbacks"] = report.fallbacks->taken;
    json["fallbacks_refused"] = report.fallbacks->refused;
  }
  add_failures(report.failures, json);
}

void add_failures(const Failures& failures, nlohmann::ordered_json& json) {
  if (failures.runs == 0) return;
  json["failed_runs"] = {
      {"count", failures.runs}, {"causes", failures.by_cause}, {"last", failures.last}};
}

void add_learned_tags(const std::vector<std::string>& learned, nlohmann::ordered_json& json) {
  if (!learned.empty()) json["learned"] = learned;
}

void tell_of_runs(const services::RunReport& report) {
  if (const auto& fallbacks = report.fallbacks) {
    fmt::print(
        stderr,
        "psn: {} traces went on in '{}' at an unknown address; {} times it could not have made "
        "the choices so far, and the surrogate went on\n",
        fallbacks->taken, fallbacks->simulator, fallbacks->refused);
  }
  warn_of_failures(report.failures);
}

void warn_of_failures(const Failures& failures) {
  if (failures.runs == 0) return;
  fmt::print(
      stderr,
      "psn: warning: {} runs failed ({}) and are left out, which biases the result if failing has "
      "to do with the variables; the last: {}\n",
      failures.runs, failures.causes(), failures.last);
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
