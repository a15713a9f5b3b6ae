// What keeps a process from being forked again and again, and open files that must not be shared.
#pragma once

#include <cstddef>
#include <span>

namespace psn::preload {

// Writes why this process, stopped where it is, cannot be copied, or nothing; returns the length.
// What it has open for reading is remembered for reopen_files(). `own`: the engine's socket;
// `given`: what the engine has sent along.
std::size_t find_limits(int own, std::span<const int> given, char* text, std::size_t size);

// In a copy: gives it files of its own, each at its place, as reading moves that of all copies.
// False if one could not be opened again.
bool reopen_files();

}  // namespace psn::preload
