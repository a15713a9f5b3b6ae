// Traces of a model into a store, which grows until it has as many as are wanted; what is
// interrupted goes on with the same call.
//
// Blocking. With several ranks each calls generate() with the same job; all make traces, rank 0
// writes.
#pragma once

#include <string>

#include "psn/core/failure_log.h"
#include "psn/services/simulators.h"

namespace psn::services {

struct GenerationJob {
  SimulationOptions simulation;  // `count`: traces that the store will have
  std::string store;             // its folder
  double commit_every = 1;       // seconds: what is lost at most if the process is killed
  std::size_t map_bytes = 0;     // that the store may grow to; 0: as large as can be
  std::string config;            // all options as TOML, written into the folder; empty: none
};

struct GenerationResult {
  std::string model;  // as it calls itself
  std::uint64_t traces = 0, new_traces = 0;
  double traces_per_second = 0;
  Failures failures;
  std::string left;  // of what was interrupted; empty: all traces are there
};

// Throws DataError if the store is of another model or seed, or cannot be written. An interruption
// is no error here: the result says what is left.
GenerationResult generate(const GenerationJob& job, Host& host);
// The same for a simulator that is open already; the job's model is what messages call it.
GenerationResult generate(Simulator& simulator, const GenerationJob& job, Host& host);

}  // namespace psn::services
