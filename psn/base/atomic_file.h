// Files that appear whole or not at all: written beside their place, flushed, then renamed.
#pragma once

#include <string>
#include <string_view>

namespace psn {

// Throws DataError, and leaves what was there before untouched.
void write_file_atomically(const std::string& path, std::string_view content);

// Throws DataError if the file cannot be read or is larger than `limit` bytes.
std::string read_file(const std::string& path, std::size_t limit = std::size_t{1} << 36);

}  // namespace psn
