// The record of a training, as it is written to files and results: nothing in it depends on time.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "psn/train/trainer.h"

namespace psn::app {

nlohmann::ordered_json progress_json(const Progress& progress, bool infers);

// What a finished training should not be taken for, each with what to do about it.
std::vector<std::string> training_warnings(const Progress& last, bool infers);

}  // namespace psn::app
