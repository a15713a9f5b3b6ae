// Lines over a number: learning curves, and curves with the band in which they should stay.
#pragma once

#include <string>
#include <vector>

#include "psn/report/report.h"

namespace psn {

struct Line {
  std::string name;
  std::vector<double> x, y;           // NaN: no point
  std::vector<double> low{}, high{};  // the band around it; empty: none
};

struct LineFigure {
  std::string title, reading;
  std::string x, y;  // titles of the axes
  bool log_x = false, log_y = false;
  bool one_at_a_time = false;  // chosen from a list; else all together
  bool marks = false;          // points on the lines, where they are few
  std::vector<Line> lines;
};

Figure line_figure(const LineFigure& figure);

// Of each line at most so many points, evenly chosen, the last one among them.
Line thinned(Line line, std::size_t most);

}  // namespace psn
