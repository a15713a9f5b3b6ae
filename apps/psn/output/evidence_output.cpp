#include "apps/psn/output/evidence_output.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace psn::app {
namespace {

// Four digits are more than a figure shows.
nlohmann::ordered_json short_list(const std::vector<double>& values) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const double x : values) list.push_back(std::round(x * 1e4) / 1e4);
  return list;
}

}  // namespace

nlohmann::ordered_json curve_json(const std::optional<evidence::Curve>& curve) {
  if (!curve || curve->z.empty()) return nullptr;
  return {{"count", curve->count},
          {"z", short_list(curve->z)},
          {"difference", short_list(curve->difference)},
          {"low", short_list(curve->low)},
          {"high", short_list(curve->high)},
          {"p_value", curve->p_value},
          {"adjusted_p_value", curve->adjusted_p_value},
          {"outside", curve->outside}};
}

nlohmann::ordered_json verdict_json(const char* kind, const std::string& model, std::uint64_t seed,
                                    double tolerance, const evidence::Verdict& verdict) {
  nlohmann::ordered_json tests = nlohmann::ordered_json::array();
  for (const evidence::Test& test : verdict.tests) {
    tests.push_back({{"test", test.test},
                     {"what", test.what},
                     {"p_value", test.p_value},
                     {"adjusted_p_value", test.adjusted_p_value},
                     {"failed", test.failed}});
  }
  return {{"kind", kind},
          {"model", model},
          {"seed", seed},
          {"passed", verdict.passed},
          {"undecided", verdict.undecided},
          {"reasons", verdict.reasons},
          {"false_alarm_rate", verdict.false_alarm_rate},
          {"tolerance", tolerance},
          {"tests", std::move(tests)}};
}

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
  for (const std::string& reason : verdict.reasons) fmt::print("  - {}\n", reason);
}

}  // namespace psn::app
