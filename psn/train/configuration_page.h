// The reference page of all that can be configured (docs/reference/configuration.md), from the
// tables of fields.
#pragma once

#include <string>

namespace psn {

std::string configuration_page();

}  // namespace psn
