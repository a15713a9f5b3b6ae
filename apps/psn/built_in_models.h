// The models that psn brings along.
#pragma once

#include <vector>

#include "psn/core/model.h"

namespace psn::app {

// In the order of `psn models`.
std::vector<Model> built_in_models();

}  // namespace psn::app
