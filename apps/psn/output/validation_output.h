// A validation as JSON (docs/formats/evidence.md), and for people.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "psn/services/validate.h"

namespace psn::app {

nlohmann::ordered_json validation_json(const services::ValidationResult& result,
                                       const services::ValidationJob& job);
void print_validation(const services::ValidationResult& result, const services::ValidationJob& job);

}  // namespace psn::app
