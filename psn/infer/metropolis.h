// Metropolis-Hastings over traces (Wingate et al. 2011): change one choice, run the program again
// with the other values kept where their addresses come up, accept or reject.
//
// LMH draws the changed choice from its prior. RMH takes a random-walk step at continuous sites
// (random_walk.h), and is LMH elsewhere.
//
// Choices that are not under control (control = false, observations nobody gave) are changed
// together, as one more site, by a draw from the model.
#pragma once

#include <functional>

#include "psn/infer/engines.h"

namespace psn {

struct MetropolisOptions : EngineOptions {  // `first` counts chains
  std::size_t chains = 4;                   // `samples` is divided among them, rounded up
  std::uint64_t burn_in = 0;                // iterations of each chain before the first kept one
  std::uint64_t thinning = 1;               // keep every so manieth
  std::uint64_t start_attempts = 10'000;    // of each chain, to find a state to start from
  // How far apart the numbers of two chains' first samples are, by which EngineState and Draws know
  // samples; 0: as many as a chain has. For chains that go on with more `samples` than before.
  std::uint64_t stride = 0;
  bool random_walk = false;  // RMH
  // RMH: the share of draws from the prior, so that a chain can leave a mode; and the first step
  // size in units of the site's prior standard deviation. Steps adapt during burn-in only.
  double prior_share = 0.1;
  double step = 0.5;
};

struct MetropolisResult {
  Posterior posterior;
  double acceptance = 0;         // share of accepted proposals after burn-in
  std::uint64_t iterations = 0;  // of all chains, burn-in included
};

// The chains start from draws of the prior with non-zero likelihood; ModelError if a chain finds
// none in so many attempts. A run that the simulator cannot finish is a proposal rejected. The
// result depends on neither width nor threads.
MetropolisResult metropolis_hastings(Simulator& simulator, const Observations& observations,
                                     const MetropolisOptions& options);

}  // namespace psn
