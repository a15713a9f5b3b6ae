// Models in shared libraries (psn/core/plugin.h).
#pragma once

#include <string>

#include "psn/core/model.h"

namespace psn::services {

// Throws DataError for what is no plugin, ModelError for one that cannot make its model. The
// library stays loaded until the process ends.
Model load_plugin(const std::string& path);

}  // namespace psn::services
