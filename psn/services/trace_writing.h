// Traces from a source into a store, committed again and again. Internal header.
#pragma once

#include <functional>

#include "psn/core/run.h"
#include "psn/core/trace_source.h"
#include "psn/data/store.h"
#include "psn/services/simulators.h"
#include "psn/train/stream.h"

namespace psn::services {

// The traces that training on the model itself would use, without the first. Trace i is from
// random stream i, so the store depends on model and seed alone.
StreamOptions stored_stream(const SimulationOptions& s, std::uint64_t first, Monitor* monitor);

struct TraceWriting {
  std::uint64_t until = 0;  // traces that the store will have
  double commit_every = 1;  // seconds
  Monitor* monitor = nullptr;
  std::function<void()> committed;  // optional
};

// Until they are there or the monitor says stop. What was taken is committed, whatever happens.
void write_traces(TraceSource& source, data::StoreWriter& writer, const TraceWriting& options);

}  // namespace psn::services
