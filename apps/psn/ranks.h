// The processes that mpirun started to work on one command; this one alone without mpirun.
#pragma once

#include "psn/ranks/communicator.h"

namespace psn::app {

// Those that this process is one of; started at the first call.
Communicator& ranks();

}  // namespace psn::app
