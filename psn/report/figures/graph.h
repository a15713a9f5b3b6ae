// Address transitions as a drawing: what follows what, and how often. Of two programs, side by
// side in one layout, so that a difference is seen at its place.
#pragma once

#include <string>
#include <vector>

#include "psn/report/report.h"

namespace psn {

struct GraphFigure {
  struct Edge {
    std::string from, to;
    std::vector<double> probability;  // for each side; 0: not there
    double standard_error = 0;        // of the difference between two sides; 0: not known
  };
  std::string title = "Address transitions";
  std::vector<std::string> sides;  // "simulator", "surrogate"; one or two
  std::vector<Edge> edges;
  double min_probability = 0.01;  // rarer edges are left out, if they are so on all sides
};

// Any thread may; Graphviz lays out one graph at a time.
Figure graph_figure(const GraphFigure& figure);

}  // namespace psn
