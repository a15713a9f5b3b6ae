// Other programs, run to their end. Internal header of the reports.
#pragma once

#include <string>
#include <vector>

namespace psn::services {

// Runs a program found on PATH with its output into a file. Throws DataError with one line, which
// says what `needed_for` if it is not installed, and its last words if it fails.
void run_program(const std::vector<std::string>& words, const std::string& output,
                 const std::string& needed_for);

}  // namespace psn::services
