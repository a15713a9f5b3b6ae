#include "psn/nn/observation.h"

#include <algorithm>

#include "psn/nn/layer.h"

namespace psn {

void EmbeddedObservation::compute(const Network& network, const Node& node,
                                  std::span<const Value* const> values) {
  const std::size_t count = values.size(), inputs = node.value.inputs();
  std::vector<float> represented(count * inputs);
  for (std::size_t r = 0; r < count; ++r) {
    represent(node.value, node.scaling, *values[r], &represented[r * inputs]);
  }
  layers.resize(node.observation_layers.size());
  const std::vector<float>* before = &represented;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const BlockId id = node.observation_layers[i];
    const Block& block = network.parameters().block(id);
    Layer& layer = layers[i];
    layer.inputs = block.columns - 1;
    layer.outputs = block.rows;
    layer.rows = count;
    if (i < node.convolutions.size()) {
      const Convolution& convolution = node.convolutions[i];
      layer.rows *= convolution.windows();
      layer.in.resize(layer.rows * layer.inputs);
      for (std::size_t r = 0; r < count; ++r) {
        convolution.gather(before->data() + r * convolution.inputs(),
                           &layer.in[r * convolution.windows() * layer.inputs]);
      }
    } else {
      layer.in = *before;
    }
    layer.out.resize(layer.rows * layer.outputs);
    apply_layer(network.parameters(), id, layer.rows, layer.in.data(), layer.inputs,
                layer.out.data());
    for (float& y : layer.out) y = std::max(y, 0.0f);
    before = &layer.out;
  }
}

void EmbeddedObservation::project(const Network& network, const Node& node,
                                  std::vector<float>& projected) const {
  const Layer& last = layers.back();
  projected.resize(last.rows * network.gates());
  apply_layer(network.parameters(), node.observation_projection, last.rows, last.out.data(),
              last.outputs, projected.data());
}

std::vector<float> observation_gates(const Network& network, std::span<const Observed> observed) {
  std::vector<float> sum(network.gates(), 0.0f), part;
  EmbeddedObservation embedded;
  for (const auto& [id, value] : observed) {
    const Value* values[] = {&value};
    embedded.compute(network, network.node(id), values);
    embedded.project(network, network.node(id), part);
    for (std::size_t j = 0; j < sum.size(); ++j) sum[j] += part[j];
  }
  return sum;
}

}  // namespace psn
