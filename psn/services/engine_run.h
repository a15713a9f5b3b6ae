// A run of the engine that a job names: what its options become. Internal header of the services.
#pragma once

#include <vector>

#include "psn/infer/engines.h"
#include "psn/services/infer.h"
#include "psn/services/stopping.h"
#include "psn/services/surrogate_levels.h"

namespace psn::services {

struct EngineRun {
  const InferenceJob& job;
  Host& host;
  Simulator& simulator;
  const EngineOptions& engine;
  const GuideFactory& guide;      // of importance sampling
  const Looks* looks;             // null: it does not stop early
  const SurrogateLevels* levels;  // null: there are no surrogates to move in
};

// On rank 0 all samples; the engine's own figures go into `figures` and `result`.
Posterior run_engine(const EngineRun& run, EngineFigures& figures, InferenceResult& result);

}  // namespace psn::services
