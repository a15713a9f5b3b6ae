#include "apps/psn/output/observation_output.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

namespace psn::app {

using services::ObservationUse;

void add_observation_use(const services::ObservationsUse& use, nlohmann::ordered_json& json) {
  auto by_name = nlohmann::ordered_json::object();
  for (const ObservationUse& observation : use.observations) {
    auto& entry =
        by_name[observation.name] = {{"values", observation.values}, {"used", observation.used}};
    if (observation.values > 0) entry["unused_share"] = observation.unused;
    if (observation.partly_used > 0) entry["partly_used_share"] = observation.partly_used;
    if (observation.used_twice > 0) entry["used_twice_share"] = observation.used_twice;
  }
  json["observations"] = std::move(by_name);
  if (use.prior) json["prior"] = true;
}

void print_observation_use(const services::ObservationsUse& use) {
  if (use.observations.empty()) return;
  constexpr std::size_t kShown = 8;
  std::vector<std::string> parts;
  for (const ObservationUse& observation : use.observations) {
    if (parts.size() == kShown) {
      parts.push_back(fmt::format("... ({} in all)", use.observations.size()));
      break;
    }
    parts.push_back(
        fmt::format("{} {:.4g} of {}", observation.name, observation.used, observation.values));
  }
  fmt::print("values used by a trace: {}\n", fmt::join(parts, ", "));
}

void warn_of_observation_use(const services::ObservationsUse& use) {
  if (use.prior) {
    fmt::print(stderr,
               "psn: warning: nothing was observed, so this is the prior: --observe NAME=VALUE\n");
  }
  const auto warn = [](double share, const std::string& what) {
    constexpr double kWorthAWord = 0.01;  // of the weight
    if (share <= kWorthAWord) return;
    fmt::print(stderr, "psn: warning: traces with {:.3g} % of the weight {}\n", 100 * share, what);
  };
  for (const ObservationUse& observation : use.observations) {
    const std::string& name = observation.name;
    if (observation.values > 0) {
      warn(observation.unused,
           fmt::format("never came to the observation '{}', and were not weighed by it", name));
    }
    warn(observation.partly_used, fmt::format("used only some of the {} values of the observation "
                                              "'{}'",
                                              observation.values, name));
    warn(observation.used_twice,
         fmt::format("used one value of the observation '{}' at two addresses", name));
  }
}

}  // namespace psn::app
