// Small helpers for messages.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace psn {

// The candidate closest to `word` by edit distance, if it is close enough to be a slip; else "".
std::string nearest(std::string_view word, std::span<const std::string> candidates);

// "; did you mean 'x'?" or "".
std::string suggestion(std::string_view word, std::span<const std::string> candidates);

// Valid UTF-8 without control characters?
bool is_printable(std::string_view text);

// With everything but printable ASCII as \xNN, to show what is not.
std::string escaped(std::string_view text);

// The beginning of a text that is too long for a message, with its length.
std::string abbreviated(std::string_view text);

}  // namespace psn
