#include "psn/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace psn {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substituted, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row[b.size()];
}

// Bytes of the character that a text begins with; 0 if that is a control character or no UTF-8.
std::size_t printable_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x20 || lead == 0x7f) return 0;
  const std::size_t length = lead < 0x80 ? 1 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead >= 0xf5 || (lead >= 0x80 && lead < 0xc2) || length > text.size()) return 0;
  for (std::size_t k = 1; k < length; ++k) {
    const auto byte = static_cast<unsigned char>(text[k]);
    const unsigned char low = k == 1 && lead == 0xc2   ? 0xa0  // before it: more controls
                              : k == 1 && lead == 0xe0 ? 0xa0
                              : k == 1 && lead == 0xf0 ? 0x90
                                                       : 0x80;
    const unsigned char high = k == 1 && lead == 0xed ? 0x9f : k == 1 && lead == 0xf4 ? 0x8f : 0xbf;
    if (byte < low || byte > high) return 0;
  }
  return length;
}

}  // namespace

std::string nearest(std::string_view word, std::span<const std::string> candidates) {
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

bool is_printable(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = printable_length(text.substr(i));
    if (length == 0) return false;
    i += length;
  }
  return true;
}

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    result += byte >= 0x20 && byte < 0x7f ? std::string(1, c) : fmt::format("\\x{:02x}", byte);
  }
  return result;
}

std::string abbreviated(std::string_view text) {
  constexpr std::size_t kLongest = 500;
  std::size_t shown = 100;
  if (text.size() <= kLongest) return std::string(text);
  while ((static_cast<unsigned char>(text[shown]) & 0xc0) == 0x80) --shown;  // within a character
  return fmt::format("{}... ({} bytes)", text.substr(0, shown), text.size());
}

std::string one_line(std::string_view text, std::size_t limit) {
  constexpr std::string_view kBreaks = "\n\r\t ";
  text = text.substr(0, text.find_last_not_of(kBreaks) + 1);
  std::string result;
  if (text.size() > limit) {
    text.remove_prefix(text.size() - limit);
    result = "...";
  }
  while (!text.empty()) {
    std::size_t length = printable_length(text);
    if (length > 0) {
      result += text.substr(0, length);
    } else {
      length = 1;
      result += kBreaks.find(text[0]) == kBreaks.npos ? escaped(text.substr(0, 1)) : " ";
    }
    text.remove_prefix(length);
  }
  return result;
}

std::string suggestion(std::string_view word, std::span<const std::string> candidates) {
  const std::string close = nearest(word, candidates);
  return close.empty() ? "" : fmt::format("; did you mean '{}'?", close);
}

namespace {

std::string duration_text(double seconds) {
  if (seconds < 100) return fmt::format("{:.0f} s", seconds);
  if (seconds < 6000) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

}  // namespace

std::string progress_text(std::uint64_t traces, std::uint64_t total, double per_second,
                          const std::string& note) {
  std::string text = fmt::format("{}", traces);
  if (total > 0) text += fmt::format(" of {}", total);
  text += fmt::format(" traces, {:.{}f}/s", per_second, per_second < 10 ? 2 : 0);
  if (!note.empty()) text += ", " + note;
  if (total > traces && per_second > 0) {
    text += ", " + duration_text(static_cast<double>(total - traces) / per_second) + " left";
  }
  return text;
}

}  // namespace psn
