// A table of runs: a row each, a column each parameter and output. Any thread.
#pragma once

#include <string>
#include <vector>

#include "psn/core/value.h"

namespace psn::services {

struct RunColumn {
  std::string name;
  Shape shape;                 // of one run's value; empty: a number
  std::vector<double> values;  // run after run; NaN: missing

  Value of_run(std::size_t run) const;
  bool missing(std::size_t run) const;  // any component
};

struct RunTable {
  std::vector<RunColumn> columns;
  std::size_t runs = 0;

  const RunColumn* find(const std::string& name) const;  // nullptr: none
};

// Of a .csv file with a line of names (columns NAME[0], NAME[1], ... are one vector; empty cells
// and nan, inf, na and null are missing) or of an .npz file (of each array the first extent are the
// runs). Throws DataError.
RunTable read_runs(const std::string& path);

}  // namespace psn::services
