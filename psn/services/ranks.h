// One piece of work, divided among ranks and put together again.
#pragma once

#include <cstdint>

#include "psn/core/ensemble.h"
#include "psn/core/posterior.h"
#include "psn/infer/draws.h"
#include "psn/ranks/communicator.h"

namespace psn::services {

// This rank's part of so many independent things: parts are contiguous and of about the same size.
struct RankPart {
  std::uint64_t first, count;
};
RankPart own_part(const Communicator& ranks, std::uint64_t count);

// On rank 0 the samples of all ranks in their order, without whole traces.
Posterior joined(Communicator& ranks, Posterior own);
// On all ranks.
Failures joined(Communicator& ranks, const Failures& own);
// On rank 0 what all ranks kept.
void join(Communicator& ranks, Draws& own);

}  // namespace psn::services
