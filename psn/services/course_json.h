// A course (psn/nn/run/course.h) as the history of a training has it (docs/formats/network.md).
// Internal header of the services.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "psn/nn/run/course.h"

namespace psn::services {

nlohmann::ordered_json course_json(const Course& course);

// Of a network's history; nullopt if it does not tell.
std::optional<Course> course_in(const std::string& history);

}  // namespace psn::services
