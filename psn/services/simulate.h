// Forward runs of a model. Blocking; in one process.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "psn/core/posterior.h"
#include "psn/services/forward_run.h"
#include "psn/services/trace_record.h"

namespace psn::services {

struct SimulationJob : ForwardOptions {
  std::size_t recorded = 0;    // of the first traces, all that they did
  bool distributions = false;  // with what values were drawn from
  bool columns = false;        // keep queries of all traces
};

struct SimulationResult {
  std::string model;  // as it calls itself
  double mean_length = 0;
  std::size_t longest = 0;
  std::size_t addresses = 0;
  double traces_per_second = 0;
  std::vector<TraceRecord> records;
  Posterior samples{{}, 0};  // of equal weight
  RunReport report;
};

SimulationResult simulate(const SimulationJob& job, Host& host);

}  // namespace psn::services
