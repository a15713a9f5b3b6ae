// The address transitions of a model. Blocking; in one process.
#pragma once

#include <string>
#include <vector>

#include "psn/report/rejection_loops.h"
#include "psn/report/transitions.h"
#include "psn/services/forward_run.h"

namespace psn::services {

struct GraphJob : ForwardOptions {
  TransitionGraph::Nodes nodes = TransitionGraph::Nodes::kAddresses;
  double min_probability = 0;  // of edges in DOT
};

struct GraphResult {
  std::uint64_t traces = 0;
  std::vector<TransitionGraph::Edge> edges;  // sorted as TransitionGraph::edges() has them
  // That look like rejection and do not say so (Context::until).
  std::vector<RejectionLoop> loops;
  RunReport report;
};

std::vector<std::string> loop_warnings(const std::vector<RejectionLoop>& loops);

GraphResult graph(const GraphJob& job, Host& host);

}  // namespace psn::services
