// What can be done with trace stores besides making them. Blocking; in one process.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "psn/core/posterior.h"
#include "psn/data/origin.h"
#include "psn/services/host.h"

namespace psn::services {

struct LengthSummary {  // random choices of traces
  double mean = 0;
  std::size_t min = 0, q05 = 0, median = 0, q95 = 0, max = 0;
};

struct StoreContents {
  struct AddressUse {
    std::string address, name, site;
    double per_trace = 0;  // occurrences
  };
  std::string store;
  std::uint64_t traces = 0;
  std::vector<data::Origin> origins;
  std::uint64_t bytes = 0;    // on disk
  std::uint64_t sampled = 0;  // traces behind lengths and occurrences
  std::optional<LengthSummary> length;
  std::vector<AddressUse> addresses;
};

// Lengths and occurrences are those of so many traces, evenly spread; 0: of all.
StoreContents store_contents(const std::string& store, std::uint64_t sampled);

struct VerifiedStore {
  std::uint64_t traces = 0;
  std::size_t addresses = 0;
};
// Reads all of it; throws DataError for what is damaged, Interrupted.
VerifiedStore verify_store(const std::string& store, Host& host);

// Several stores of one model as one; returns the number of traces. See psn/data/merge.h.
std::uint64_t merge_stores(const std::vector<std::string>& stores, const std::string& out,
                           Host& host);

struct ExportOptions {
  std::string store;
  std::string out;                     // ends in .csv or .npz
  std::vector<std::string> queries;    // none: all named variables, observations and tags
  std::uint64_t first = 0, count = 0;  // count 0: to the end
};
// A row a trace, a column each quantity; NaN, or nothing in CSV, where a trace does not have it.
// Returns the number of rows.
std::uint64_t export_traces(const ExportOptions& options);

// Any table as arrays by column; `weights`: with log_weight.
void write_npz(const Posterior& table, const std::string& path, bool weights);

}  // namespace psn::services
