// Which observations are lists of random length, so that an inference network does best to give all
// their indices one set of layers (psn/nn/observation.h). Internal header of the services.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "psn/core/trace.h"
#include "psn/nn/config.h"

namespace psn::services {

// By name, from some runs. None where latents come in numbers as well: they need the values that
// belong to them, not a mean.
std::vector<std::string> lists_of_random_length(std::span<const Trace> traces);

// Has the network share layers over their indices, but for those whose layers are set by name.
void share_lists(NetworkConfig& config, std::span<const Trace> traces);

}  // namespace psn::services
