// Observations as JSON has them: numbers and arrays of such, null for what was not measured.
// Internal header of the services and of those who read such files.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "psn/core/value.h"

namespace psn::services {

// Throws std::runtime_error with what is wrong; the caller says where.
Value value_of(const nlohmann::ordered_json& node);

}  // namespace psn::services
