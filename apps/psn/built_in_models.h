// The models that psn brings along.
#pragma once

#include <string>
#include <vector>

#include "psn/core/model.h"

namespace psn::app {

struct ModelGroup {
  std::string name;         // one word
  std::string description;  // one line
  std::vector<Model> models;
};

// In the order of `psn models`.
std::vector<ModelGroup> built_in_groups();
std::vector<Model> built_in_models();

}  // namespace psn::app
