// The processes that mpirun started to work on one command; this one alone without mpirun.
#pragma once

#include <cstdint>

#include "psn/base/communicator.h"
#include "psn/core/ensemble.h"
#include "psn/core/posterior.h"
#include "psn/infer/draws.h"

namespace psn::app {

// Those that this process is one of; started at the first call.
Communicator& ranks();

// This rank's part of so many independent things: parts are contiguous and of about the same size.
struct Part {
  std::uint64_t first, count;
};
Part own_part(std::uint64_t count);

// On rank 0 the samples of all ranks in their order, without whole traces.
Posterior joined(Posterior own);
Failures joined(Failures own);
// On rank 0 what all ranks kept.
void join(Draws& own);

}  // namespace psn::app
