#include "psn/services/trace_record.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace psn::services {

TraceRecord record_of(const Trace& trace) {
  TraceRecord record{.log_joint = trace.log_joint};
  for (const Entry& entry : trace.entries) {
    record.steps.push_back({entry.role, entry.address->text, entry.address->variable->name,
                            entry.value, entry.distribution ? entry.distribution->text() : "",
                            entry.given});
  }
  return record;
}

std::string traces_json(
    const std::vector<std::pair<std::string, std::vector<TraceRecord>>>& sides) {
  using Json = nlohmann::ordered_json;
  constexpr std::size_t kMostSteps = 2000, kMostText = 200;  // nobody reads more of one trace
  Json json{{"sides", Json::array()}};
  for (const auto& [name, records] : sides) {
    Json traces = Json::array();
    for (const TraceRecord& record : records) {
      Json steps = Json::array();
      for (const TraceRecord::Step& step : record.steps) {
        if (steps.size() == kMostSteps) break;
        std::string value = step.value.text();
        if (value.size() > kMostText) value = value.substr(0, kMostText) + " ...";
        steps.push_back({{"role", step.given ? "given" : role_name(step.role)},
                         {"address", step.address},
                         {"value", value},
                         {"distribution", step.distribution.substr(0, kMostText)}});
      }
      traces.push_back({{"log_p", fmt::format("{:.6g}", record.log_joint)}, {"steps", steps}});
    }
    json["sides"].push_back({{"name", name}, {"traces", traces}});
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace psn::services
