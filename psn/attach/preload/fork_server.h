// The program, stopped before its first random choice: it makes a copy of itself for each run that
// the engine asks for.
#pragma once

namespace psn::preload {

// Returns in the process that is to go on, with the socket over which it asks for its choices. In
// the one that was called, only if the engine wants no copies.
int serve(int engine);

struct Packet;

// In a run that waits for an answer: makes a copy of it, as `packet` asks for, which returns its
// own socket; -1 in the run itself, to which `pid` becomes the copy, or a negative error number.
int copy_run(const Packet& packet, int socket, int& pid);

}  // namespace psn::preload
