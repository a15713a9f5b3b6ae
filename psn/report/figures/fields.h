// Matrices as heat maps side by side on one colour scale; of several samples, a slider chooses one.
#pragma once

#include <string>
#include <vector>

#include "psn/report/heat_map.h"
#include "psn/report/report.h"

namespace psn {

struct FieldFigure {
  struct Panel {
    std::string title;
    std::vector<std::vector<double>> samples;  // row-major; as many in each panel
  };
  std::string title, reading;
  std::vector<Panel> panels;
  MatrixAxis rows, columns;  // rows run to the right, columns upwards
  std::size_t width = 1;     // number of columns
  std::string unit;
};

Figure field_figure(const FieldFigure& figure);

}  // namespace psn
