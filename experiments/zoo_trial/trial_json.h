// Trials as JSON; internal header of this folder.
#pragma once

#include <nlohmann/json.hpp>

#include "experiments/zoo_trial/trial.h"

namespace psn::zoo {

nlohmann::ordered_json trial_json(const Trial& trial);
Trial trial_of(const nlohmann::ordered_json& json);  // throws Json::exception

}  // namespace psn::zoo
