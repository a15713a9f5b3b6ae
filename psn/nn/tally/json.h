// The plan of a tally as JSON, for files.
#pragma once

#include "psn/nn/network_json.h"
#include "psn/nn/tally/tally.h"

namespace psn {

nlohmann::json to_json(const TallyPlan& plan);
TallyPlan read_tally(const JsonReader& reader, const nlohmann::json& object);

nlohmann::json to_json(const TallyType& type);
TallyType read_tally_type(const JsonReader& reader, const nlohmann::json& object);

}  // namespace psn
