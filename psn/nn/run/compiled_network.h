// CompiledNetwork: a network's weights laid out for the executor, and the projections of addresses
// and types (constants per node) as tables. Immutable: several executors on several threads share
// one.
#pragma once

#include <memory>
#include <vector>

#include "psn/nn/network.h"
#include "psn/nn/packed_matrix.h"

namespace psn {

class CompiledNetwork {
 public:
  // Throws ModelError, naming the node, if a parameter is not finite.
  explicit CompiledNetwork(std::shared_ptr<const Network> network);

  const Network& network() const { return *network_; }

 private:
  friend class Executor;

  struct NodeLayers {
    nn::PackedMatrix embedding, recall, transition_hidden, transition, transition_tally;
    std::vector<nn::PackedMatrix> value;
    std::vector<nn::PackedMatrix> components;  // of a sequential proposal: the last layer's rows
  };

  void check_finite() const;
  void make_tables();

  std::shared_ptr<const Network> network_;
  std::size_t table_stride_ = 0;           // of the rows of the tables and of the core's inputs
  std::vector<float> previous_, current_;  // node -> part of the core's inputs, with their bias
  std::vector<float> instance_, index_;    // weights of their features; empty: no inputs
  nn::PackedMatrix tally_;                 // tally -> core's inputs
  std::unique_ptr<CompiledCore> core_;
  std::vector<NodeLayers> nodes_;
};

}  // namespace psn
