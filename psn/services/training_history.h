// The record of a training, as its network's file has it (docs/formats/network.md): a JSON list
// with an object for each report. Nothing in it depends on time. Internal header of the services
// and of those who print such objects.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "psn/services/run_report.h"
#include "psn/train/progress.h"

namespace psn::services {

nlohmann::ordered_json progress_json(const Progress& progress, bool infers);

// The last validation in a network's history; nullopt if there was none, or it does not tell.
std::optional<Validation> last_validation(const std::string& history);
// Of the same, what readers of results want to know.
std::optional<HeldOutKl> held_out_kl(const std::string& history);

std::optional<RemoteObservation> remote_observation(const std::string& history);

}  // namespace psn::services
