// What an inference network makes of observations: each is embedded by layers of its own and
// projected, beside what goes past these layers, into the inputs of the core and into a context
// that the heads see; the sum over those present is added at every step.
//
// A list of any length is one observation: the layers see each value with the one before it and its
// index, and what is projected is the mean over all values, with two functions of their number. So
// an order that does not matter need not be learned, and one in which neighbours matter can be.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "psn/nn/network.h"

namespace psn {

// A value of an observation; of a list one of several, by index, of which `group` is the number.
struct ObservedValue {
  const Value* value;
  std::uint32_t group;  // 0, 1, ... in order
  std::optional<std::int64_t> index;
};

// The layers of one observation over several values of it, with what going back needs.
struct EmbeddedObservation {
  struct Layer {
    std::size_t rows = 0, inputs = 0, outputs = 0;  // rows: values, or their windows
    std::vector<float> in, out;                     // out is never negative
  };
  std::vector<Layer> layers;
  std::size_t rows = 0, columns = 0;  // values, and the numbers that the layers see of each
  std::size_t width = 0;              // features of each group
  std::vector<float> values;          // as numbers
  std::vector<std::size_t> begins;    // of groups, among the values; and the end
  // By group: [mean of its embeddings | its length | mean of what went past the layers].
  std::vector<float> features;

  std::size_t groups() const { return begins.size() - 1; }
  void compute(const Network& network, const Node& node, std::span<const ObservedValue> given);
  // For each group network.observation_outputs() numbers: its part of the core's inputs, and of
  // what goes past the core.
  void project(const Network& network, const Node& node, std::vector<float>& projected) const;

 private:
  void represent_all(const Network& network, const Node& node,
                     std::span<const ObservedValue> given);
  void run_layers(const Network& network, const Node& node);
  void pool(const Node& node, const std::vector<float>& past, std::size_t skip);
};

// The part of the core's inputs that comes from these observations, and what goes past the core.
struct Observed {
  NodeId node;
  Value value;
  std::optional<std::int64_t> index{};  // of a value of a list, all of which are side by side
};
std::vector<float> observation_inputs(const Network& network, std::span<const Observed> observed);

// How far out these observations lie among those of the training: the largest deviation of a number
// from its median, in units of its spread.
double remoteness(const Network& network, std::span<const Observed> observed);

}  // namespace psn
