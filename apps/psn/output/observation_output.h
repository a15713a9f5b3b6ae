// Which observations weighed a posterior's traces, as psn infer says it.
#pragma once

#include "psn/services/observation_use.h"

namespace psn::app {

// On stdout: one line.
void print_observation_use(const services::ObservationsUse& use);

}  // namespace psn::app
