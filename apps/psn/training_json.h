// The record of a training, as it is written to files and results: nothing in it depends on time.
#pragma once

#include <nlohmann/json.hpp>

#include "psn/train/trainer.h"

namespace psn::app {

nlohmann::ordered_json progress_json(const Progress& progress, bool infers);

}  // namespace psn::app
