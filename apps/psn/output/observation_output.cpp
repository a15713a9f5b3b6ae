#include "apps/psn/output/observation_output.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace psn::app {

using services::ObservationUse;

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

}  // namespace psn::app
