// Files that appear whole or not at all: written beside their place, flushed, then renamed; the
// folder is flushed too, so that the new name outlives a loss of power.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "psn/io/descriptor.h"

namespace psn {

// Throws DataError, and leaves what was there before untouched.
void write_file_atomically(const std::string& path, std::string_view content);

// Gives a file or folder its final name, for good. Throws DataError.
void rename_durably(const std::string& from, const std::string& to);
// What was made in a folder, or renamed there, stays. Throws DataError.
void sync_folder(const std::string& path);

// An entry under a temporary name, made and opened by `make` and locked, so that no other process
// takes it for abandoned. A descriptor below 0, with errno, if `make` returns one.
Descriptor hold_temporary(const std::string& path, const std::function<int()>& make);
Descriptor hold_temporary_folder(const std::string& path);
// Removes what writers of this file, or of a folder of that name, left beside it when they were
// killed: entries "path.NUMBER.tmp" that nobody holds a lock on.
void remove_abandoned(const std::string& path);

// Throws DataError if the file cannot be read or is larger than `limit` bytes.
std::string read_file(const std::string& path, std::size_t limit = std::size_t{1} << 36);

}  // namespace psn
