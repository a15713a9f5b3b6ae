// What would be observed again, given a posterior that was written to a folder (psn infer --out).
// Blocking; in one process.
#pragma once

#include <string>
#include <vector>

#include "psn/core/posterior.h"
#include "psn/infer/draws.h"
#include "psn/services/forward_run.h"
#include "psn/services/posterior_summary.h"

namespace psn::services {

struct PredictionJob : ForwardOptions {  // an empty model: what the posterior is of
  std::string posterior;                 // folder; or:
  const Draws* kept = nullptr;           // draws in memory, with the model that they are of
};

struct PredictionResult {
  std::string model;  // as it calls itself
  Posterior samples{{}, 0};
  std::vector<ColumnSummary> columns;
  std::size_t draws = 0;          // that the runs were made of
  std::uint64_t new_latents = 0;  // choices that no draw had a value for
  double traces_per_second = 0;
  std::vector<std::string> learned;  // columns that are a surrogate's tags
  RunReport report;
};

// Throws DataError if the folder has no draws, besides what simulate() does.
PredictionResult predict(PredictionJob job, Host& host);

}  // namespace psn::services
