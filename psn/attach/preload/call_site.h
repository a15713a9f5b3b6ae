// Where in the program a random number was asked for, as text that is the same in every run.
#pragma once

#include <cstddef>

namespace psn::preload {

// "sim+0x11c9<sim+0x1270": module and offset of the call, then of the calls above it, `depth` in
// all, up to the C library's call of main(). Returns its length, at most `size`.
std::size_t call_site(int depth, char* text, std::size_t size);

}  // namespace psn::preload
