// The posterior predictive: for draws of a posterior, what the program observes anew.
#pragma once

#include "psn/infer/draws.h"
#include "psn/infer/engines.h"

namespace psn {

struct Prediction {
  Posterior samples;              // of equal weight
  std::uint64_t new_latents = 0;  // choices that the draw had no value for, or an impossible one
};

// options.samples runs, each of a draw resampled by weight: latents that the draw has, by address
// and visit, keep its values; all others, and every observation, are drawn from the program. The
// simulator may be another than the one the draws came from, a surrogate for instance. Throws
// ModelError if there are no draws.
Prediction predict(Simulator& simulator, const Draws& draws, const EngineOptions& options);

}  // namespace psn
