#include "psn/io/csv.h"

namespace psn {
namespace {

std::string_view without_blanks(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const auto first = text.find_first_not_of(kBlanks);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

// What a cell means.
std::string unquoted(std::string_view cell) {
  cell = without_blanks(cell);
  if (!cell.starts_with('"')) return std::string(cell);
  cell.remove_prefix(1);
  std::string text;
  for (std::size_t i = 0; i < cell.size(); ++i) {
    if (cell[i] != '"') {
      text += cell[i];
    } else if (cell.substr(i + 1).starts_with('"')) {
      text += cell[i++];
    }
  }
  return text;
}

}  // namespace

std::string csv_cell(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == text.npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

std::vector<std::string> csv_cells(std::string_view line) {
  std::vector<std::string> cells;
  bool quoted = false;
  std::size_t first = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"') quoted = !quoted;
    if (line[i] != ',' || quoted) continue;
    cells.push_back(unquoted(line.substr(first, i - first)));
    first = i + 1;
  }
  cells.push_back(unquoted(line.substr(first)));  // the last may be empty, too
  return cells;
}

}  // namespace psn
