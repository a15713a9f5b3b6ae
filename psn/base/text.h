// Small helpers for messages.
#pragma once

#include <cstddef>
#include <cstdint>
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

// Text that others wrote, as a terminal may be given it: one line, with line breaks and tabs as
// spaces, and other control characters and what is no UTF-8 as \xNN. Of a text that is longer than
// `limit` bytes only the end remains.
std::string one_line(std::string_view text, std::size_t limit = ~std::size_t{0});

// "1200 of 10000 traces, 400/s, KL 0.0123, 22 s left". A total of 0 is unknown; the note may be
// empty.
std::string progress_text(std::uint64_t traces, std::uint64_t total, double per_second,
                          const std::string& note);

}  // namespace psn
