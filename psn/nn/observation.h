// What an inference network makes of observations: each is embedded by layers of its own and
// projected, beside what goes past these layers, into the inputs of the core and into a context
// that the heads see; the sum over those present is added at every step.
#pragma once

#include <span>
#include <vector>

#include "psn/nn/network.h"

namespace psn {

// The layers of one observation over several values of it, with what going back needs.
struct EmbeddedObservation {
  struct Layer {
    std::size_t rows = 0, inputs = 0, outputs = 0;  // rows: values, or their windows
    std::vector<float> in, out;                     // out is never negative
  };
  std::vector<Layer> layers;
  std::size_t rows = 0, width = 0;  // values, and features of each
  std::vector<float> values;        // as numbers
  std::vector<float> features;      // by value: [its embedding | what went past the layers]

  void compute(const Network& network, const Node& node, std::span<const Value* const> given);
  // For each value network.observation_outputs() numbers: its part of the core's inputs, and of
  // what goes past the core.
  void project(const Network& network, const Node& node, std::vector<float>& projected) const;

 private:
  void run_layers(const Network& network, const Node& node);
};

// The part of the core's inputs that comes from these observations, and what goes past the core.
struct Observed {
  NodeId node;
  Value value;
};
std::vector<float> observation_inputs(const Network& network, std::span<const Observed> observed);

// How far out these observations lie among those of the training: the largest deviation of a number
// from its median, in units of its spread.
double remoteness(const Network& network, std::span<const Observed> observed);

}  // namespace psn
