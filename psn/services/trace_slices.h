// Traces of a simulator for whoever looks at all of them once: in order and in slices, so that few
// are in memory at a time. Internal header of the services.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "psn/core/trace.h"
#include "psn/services/host.h"
#include "psn/services/simulators.h"

namespace psn::services {

// Whose traces: seeds of their own, none of them a training's.
enum class SliceOf : std::uint32_t { kSimulator, kSimulatorAgain, kSurrogate };

using UseSlice = std::function<void(std::span<const Trace>)>;

// `count` traces with their distributions, without those that failed. Returns the seconds that
// running them took.
double run_slices(Simulator& simulator, const SimulationOptions& options, SliceOf whose, Host& host,
                  const UseSlice& use);

// As many of the traces of a store: those that no training on it learns from, or of all. Throws
// InvalidArgument if there are none.
void read_slices(const std::string& store, std::uint64_t count, bool all, const Host& host,
                 const UseSlice& use);

}  // namespace psn::services
