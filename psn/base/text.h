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

}  // namespace psn
