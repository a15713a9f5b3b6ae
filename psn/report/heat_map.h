// Heat maps of matrices as Vega-Lite specifications: JSON files that browsers, notebooks and
// vl-convert draw, with their data inside.
#pragma once

#include <string>
#include <vector>

namespace psn {

// Coordinates of a matrix's rows or columns: start, start + step, ...
struct MatrixAxis {
  std::string title;
  double start = 0, step = 1;
};

struct HeatMap {
  // Drawn side by side on one colour scale.
  struct Panel {
    std::string title;
    std::vector<double> values;  // row-major
  };

  std::vector<Panel> panels;
  MatrixAxis rows, columns;  // rows run to the right, columns upwards
  std::size_t width = 0;     // number of columns
  std::string unit;          // of the values
};

std::string vega_lite(const HeatMap& map);

}  // namespace psn
