// Traces of a store as tables for other programs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "psn/data/store.h"

namespace psn::app {

struct ExportOptions {
  std::string out;                     // ends in .csv or .npz
  std::vector<std::string> queries;    // none: all named variables, observations and tags
  std::uint64_t first = 0, count = 0;  // count 0: to the end
};

// A row a trace, a column each quantity; NaN, or nothing in CSV, where a trace does not have it.
// Returns the number of rows.
std::uint64_t export_traces(data::StoreReader& reader, const ExportOptions& options);

}  // namespace psn::app
