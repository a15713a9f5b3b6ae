// The observations of an inference network over a batch, forward and back.
#pragma once

#include <vector>

#include "psn/nn/observation.h"
#include "psn/train/batch.h"

namespace psn {

class ObservationGradient {
 public:
  explicit ObservationGradient(Network& network) : network_(network) {}

  // inputs: for each position of the batch, the observations' part of the core's inputs, and what
  // goes past the core.
  void compute(const Batch& batch, std::vector<float>& inputs);
  // From the gradient with respect to those; adds the blocks that have one to `touched`.
  void back(const Batch& batch, const std::vector<float>& d_inputs, std::vector<BlockId>& touched);

 private:
  struct ObservedNode {  // its values among batch.observed
    NodeId node;
    std::size_t begin, end;
    EmbeddedObservation embedded;
  };
  void back_through_layers(const Node& node, const EmbeddedObservation& embedded,
                           std::vector<float> d_out, std::vector<BlockId>& touched);

  Network& network_;
  std::vector<ObservedNode> observed_nodes_;
};

}  // namespace psn
