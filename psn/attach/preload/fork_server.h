// The program, stopped before its first random choice: it makes a copy of itself for each run that
// the engine asks for.
#pragma once

namespace psn::preload {

// Returns in the process that is to go on, with the socket over which it asks for its choices. In
// the one that was called, only if the engine wants no copies.
int serve(int engine);

}  // namespace psn::preload
