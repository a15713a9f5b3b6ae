// What psn infer, psn predict and psn simulate left in a folder (--out), read again.
#pragma once

#include <optional>
#include <string>

#include "psn/core/observations.h"
#include "psn/core/posterior.h"

namespace psn::services {

struct SavedResult {
  std::string folder;
  std::string model, engine;  // as its summary tells; empty if it does not
  Posterior samples{{}, 0};
  // Runs of a correction that repeat one sample are not independent: the effective sample size with
  // each counted once.
  std::optional<double> corrected_size;
};

// Throws DataError if the folder has no samples.
SavedResult load_result(const std::string& folder);
// What it was conditioned on; none if the folder does not tell.
Observations saved_observations(const std::string& folder);

}  // namespace psn::services
