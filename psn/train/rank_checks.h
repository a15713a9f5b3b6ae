// What ranks that train one network find out together, besides their novelties.
#pragma once

#include <string>

#include "psn/nn/parameters.h"
#include "psn/ranks/communicator.h"
#include "psn/train/gradient.h"

namespace psn {

// Throws Error, on all ranks, that names those whose parameters differ from rank 0's.
void require_same(Communicator& ranks, const Parameters& parameters);

// The address of the worst choice of all parts of a batch; empty if none has one.
std::string worst_address(Communicator& ranks, const BatchLoss& own);

}  // namespace psn
