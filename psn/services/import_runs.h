// Runs that were made before, elsewhere: a table of parameters and outputs becomes a trace store to
// train from. Blocking; in one process.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "psn/core/distribution.h"
#include "psn/services/run_table.h"

namespace psn::services {

// What a column of parameters was drawn from.
struct Prior {
  std::string name;
  Distribution distribution;
};

// "a=Normal(0, 1)"; vectors as lists, "p=Dirichlet([1, 1, 1])". Throws InvalidArgument.
Prior prior_of(const std::string& text);

struct ImportJob {
  std::string table;             // .csv or .npz (psn/services/run_table.h); or what messages call:
  std::optional<RunTable> runs;  // a table in memory
  // Drawn in this order, each from its prior; what the outputs were computed from.
  std::vector<Prior> latents;
  // Columns of outputs. How probable they are given the latents nobody knows: they are stored as
  // computed observations (Context::observe_value).
  std::vector<std::string> observed;
  std::string store;  // the folder to be made
};

struct ImportResult {
  std::uint64_t runs = 0;    // in the table
  std::uint64_t traces = 0;  // in the store
  // Left out because a column has nothing there, kept in failed.csv of the store's folder: how
  // many, and by column.
  std::uint64_t failed = 0;
  std::map<std::string, std::uint64_t> missing;
  std::vector<std::string> unused;  // columns that nobody asked for
};

// Throws InvalidArgument for columns that are not there, for values that their prior rules out, and
// if nothing is left; DataError for files that cannot be read or written, or a store that exists.
ImportResult import_runs(const ImportJob& job);

}  // namespace psn::services
