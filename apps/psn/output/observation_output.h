// Which observations weighed a posterior's traces, as psn infer says it.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "psn/services/observation_use.h"

namespace psn::app {

// "observations", by name; "prior": true if nothing at all weighed the traces.
void add_observation_use(const services::ObservationsUse& use, nlohmann::ordered_json& json);
// On stdout: one line. On stderr: what the user may not have meant.
void print_observation_use(const services::ObservationsUse& use);
void warn_of_observation_use(const services::ObservationsUse& use);

}  // namespace psn::app
