// Tags and results that are a surrogate's: learned, not computed. They are marked wherever they are
// reported.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "psn/core/ensemble.h"

namespace psn::app {

// Adds "learned", those of the names that the simulator, if it is a surrogate, has learned as tags.
void add_learned_tags(const Simulator& simulator, const std::vector<std::string>& names,
                      nlohmann::ordered_json& json);
// A line of them on stdout, if there are any.
void print_learned_tags(const nlohmann::ordered_json& json);

}  // namespace psn::app
