// Observations from the command line: NAME=VALUE, JSON and CSV files.
#pragma once

#include <string>
#include <vector>

#include "psn/core/observations.h"

namespace psn::app {

// "x=5", "y=[1, 2, 3]", "grid=[[1, 2], [3, 4]]", each name once; null is a value that was not
// measured. They replace what a file says of the same names. Throws InvalidArgument.
void add_observations(Observations& observations, const std::vector<std::string>& arguments,
                      const std::string& option = "--observe");
// The arguments of --given.
Observations held_values(const std::vector<std::string>& arguments);

// A JSON object of numbers and (nested) arrays, or CSV with a header line of names: one row gives
// numbers, several rows give vectors, an empty cell was not measured. Throws DataError that names
// the file and line.
void add_observation_file(Observations& observations, const std::string& path);

}  // namespace psn::app
