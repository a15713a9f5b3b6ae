// Cells of comma-separated lines (RFC 4180), written and read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace psn {

// Quoted where a comma or a quote would break the line.
std::string csv_cell(std::string_view text);

// The cells of a line, without blanks around them; a quoted one is what stands between its quotes,
// in which a quote is doubled.
std::vector<std::string> csv_cells(std::string_view line);

}  // namespace psn
