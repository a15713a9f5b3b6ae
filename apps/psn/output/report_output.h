// What is said of the runs behind a result: on stdout, and on stderr.
#pragma once

#include <string>
#include <vector>

#include "psn/services/run_report.h"

namespace psn::app {

// On stderr: traces that fell back, runs that failed.
void tell_of_runs(const services::RunReport& report);
void warn_of_failures(const Failures& failures);

// A line on stdout, if there are any.
void print_learned_tags(const std::vector<std::string>& learned);
// A line on stdout for a surrogate; `about`: which diagnostics besides ESS are about it, not about
// its simulator; empty: none.
void print_surrogate_quality(const services::RunReport& report, const std::string& about = "");
// On stderr, a line each.
void print_warnings(const std::vector<std::string>& warnings);

}  // namespace psn::app
