// Graphviz within the process: a graph in its language to SVG. Internal header of the figures.
#pragma once

#include <string>

namespace psn {

// `engine`: "dot", or "sfdp" for what is too large for it. Throws DataError. Any thread may.
std::string laid_out(const std::string& graph, const std::string& engine);

}  // namespace psn
