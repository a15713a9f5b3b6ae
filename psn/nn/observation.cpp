#include "psn/nn/observation.h"

#include <algorithm>
#include <cmath>

#include "psn/nn/layer.h"

namespace psn {
namespace {

void compress_tails(std::vector<float>& values) {
  constexpr float kFar = 3;
  for (float& x : values) {
    if (std::abs(x) > kFar) x = std::copysign(kFar * (1 + std::log(std::abs(x) / kFar)), x);
  }
}

}  // namespace

void EmbeddedObservation::compute(const Network& network, const Node& node,
                                  std::span<const Value* const> given) {
  const std::size_t inputs = node.value.inputs();
  rows = given.size();
  values.resize(rows * inputs);
  for (std::size_t r = 0; r < rows; ++r) {
    represent(node.value, node.scaling, *given[r], &values[r * inputs]);
  }
  if (network.config().compress_tails) compress_tails(values);
  run_layers(network, node);
  const bool shortened = node.observation_skip != kNoBlock;
  const std::size_t embedding = layers.back().outputs;
  const std::size_t skip = observation_skip(network.config(), node);
  std::vector<float> combined(shortened ? rows * skip : 0);
  if (shortened) {
    apply_layer(network.parameters(), node.observation_skip, rows, values.data(), inputs,
                combined.data());
  }
  const std::vector<float>& past = shortened ? combined : values;
  width = embedding + skip;
  features.resize(rows * width);
  for (std::size_t r = 0; r < rows; ++r) {
    std::copy_n(&layers.back().out[r * embedding], embedding, &features[r * width]);
    std::copy_n(past.data() + r * skip, skip, features.data() + r * width + embedding);
  }
}

void EmbeddedObservation::run_layers(const Network& network, const Node& node) {
  layers.resize(node.observation_layers.size());
  const std::vector<float>* before = &values;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const BlockId id = node.observation_layers[i];
    const Block& block = network.parameters().block(id);
    Layer& layer = layers[i];
    layer.inputs = block.columns - 1;
    layer.outputs = block.rows;
    layer.rows = rows;
    if (i < node.convolutions.size()) {
      const Convolution& convolution = node.convolutions[i];
      layer.rows *= convolution.windows();
      layer.in.resize(layer.rows * layer.inputs);
      for (std::size_t r = 0; r < rows; ++r) {
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
  projected.resize(rows * network.observation_outputs());
  apply_layer(network.parameters(), node.observation_projection, rows, features.data(), width,
              projected.data());
}

std::vector<float> observation_inputs(const Network& network, std::span<const Observed> observed) {
  std::vector<float> sum(network.observation_outputs(), 0.0f), part;
  EmbeddedObservation embedded;
  for (const auto& [id, value] : observed) {
    const Value* values[] = {&value};
    embedded.compute(network, network.node(id), values);
    embedded.project(network, network.node(id), part);
    for (std::size_t j = 0; j < sum.size(); ++j) sum[j] += part[j];
  }
  return sum;
}

double remoteness(const Network& network, std::span<const Observed> observed) {
  double largest = 0;
  std::vector<float> numbers;
  for (const auto& [id, value] : observed) {
    const Node& node = network.node(id);
    numbers.resize(node.value.inputs());
    represent(node.value, node.scaling, value, numbers.data());
    for (const float x : numbers) largest = std::max(largest, std::abs(static_cast<double>(x)));
  }
  return largest;
}

}  // namespace psn
