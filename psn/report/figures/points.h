// Points of two numbers each.
#pragma once

#include <string>
#include <vector>

#include "psn/report/report.h"

namespace psn {

struct PointFigure {
  struct Group {
    std::string name;
    std::vector<double> x, y;
  };
  std::string title, reading;
  std::string x, y;
  std::vector<Group> groups;
};

Figure point_figure(const PointFigure& figure);

}  // namespace psn
