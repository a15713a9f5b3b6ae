// A posterior in numbers, as commands print it.
#pragma once

#include <vector>

#include "psn/services/posterior_summary.h"

namespace psn::app {

// On stdout: moments and quantiles of every column, as rows of a table.
void print_columns(const std::vector<services::ColumnSummary>& columns);
// Columns, diagnostics and speed; `failed`: runs that did.
void print_summary(const services::PosteriorSummary& summary, std::uint64_t failed);

}  // namespace psn::app
