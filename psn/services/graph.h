// The address transitions of a model. Blocking; in one process.
#pragma once

#include <vector>

#include "psn/report/transitions.h"
#include "psn/services/forward_run.h"

namespace psn::services {

struct GraphResult {
  std::uint64_t traces = 0;
  std::vector<TransitionGraph::Edge> edges;  // sorted as TransitionGraph::edges() has them
  RunReport report;
};

GraphResult graph(const ForwardOptions& options, TransitionGraph::Nodes nodes, Host& host);

}  // namespace psn::services
