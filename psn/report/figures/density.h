// The distribution of one number: the first as bars, others beside it as lines.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "psn/report/binning.h"
#include "psn/report/report.h"

namespace psn {

struct Density {
  std::string name;  // "posterior"
  Grid grid;
  std::vector<double> densities;
};

struct DensityFigure {
  std::string variable;
  std::vector<Density> series;
  std::optional<std::pair<std::string, double>> mark;  // a line at a value: "observed", 5
};

Figure density_figure(const DensityFigure& figure);

}  // namespace psn
