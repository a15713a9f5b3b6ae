// Novelties: what the traces of one rank have that the network does not know yet, in their order.
//
// Several ranks train one network, each on its part of every batch. Before each step they tell each
// other their novelties, and every rank applies all of them, rank by rank. The parts lie in the
// order of the ranks, so that is the order of the whole batch: all ranks end up with the network
// that one process would have, node for node.
//
// Nodes that are new are numbered on from the last one of the network, by each rank on its own.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "psn/nn/network.h"
#include "psn/nn/tally/sample.h"
#include "psn/ranks/communicator.h"

namespace psn {

struct Novelties {
  std::uint64_t traces = 0;  // that they are from
  std::vector<Node> nodes;   // new ones, without parameters

  std::vector<SeenStep> transitions;

  // Of sites whose indices go farther than they did, or came to an end that few traces came to.
  struct Range {
    NodeId node;
    IndexRange range;
  };
  std::vector<Range> ranges;

  // Of nodes whose scaling is not known well enough, and where bounds are wider than they were.
  std::vector<std::pair<NodeId, Measurements>> measured;

  // In how many traces: observations that are new, or for the first time not in all of them.
  struct Observed {
    NodeId node;
    std::uint64_t traces;
  };
  std::vector<Observed> observed;

  // The traces themselves, as far as a tally is concerned, while its plan is not made yet.
  TallySample tally;

  // What else ranks agree on before a step.
  std::string error;  // why there are no traces
  bool stop = false;  // this rank was asked to end the training
};

std::string to_bytes(const Novelties& novelties);
Novelties read_novelties(const std::string& bytes, const NetworkConfig& config);

// The novelties of all ranks, by rank. ModelError, on all of them, if one has an error.
std::vector<Novelties> exchange(Communicator& ranks, Novelties own, const NetworkConfig& config);

}  // namespace psn
