// Engines by the words that people say. Any thread.
#pragma once

#include <map>
#include <string>

#include "psn/services/infer.h"

namespace psn::services {

// "is", "ic", "network", "lmh", "rmh", "da", "pm".
const std::map<std::string, Engine>& engine_names();
const std::string& name_of(Engine engine);

}  // namespace psn::services
