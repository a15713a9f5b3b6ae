// A validation, for people.
#pragma once

#include "psn/services/validate.h"

namespace psn::app {

void print_validation(const services::ValidationResult& result, const services::ValidationJob& job);

}  // namespace psn::app
