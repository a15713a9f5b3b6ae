// A posterior in numbers, as commands print and write it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "psn/services/posterior_summary.h"

namespace psn::app {

// Moments and quantiles of every column, by name; and as the rows of a table on stdout.
nlohmann::ordered_json columns_json(const std::vector<services::ColumnSummary>& columns);
void print_columns(const std::vector<services::ColumnSummary>& columns);

// Adds columns, diagnostics and speed.
void add_summary(const services::PosteriorSummary& summary, nlohmann::ordered_json& json);
// The same on stdout; `failed`: runs that did.
void print_summary(const services::PosteriorSummary& summary, std::uint64_t failed);

}  // namespace psn::app
