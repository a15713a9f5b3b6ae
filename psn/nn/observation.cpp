#include "psn/nn/observation.h"

#include <algorithm>
#include <cmath>

#include "psn/nn/kernels.h"
#include "psn/nn/layer.h"

namespace psn {
namespace {

float compressed(float x) {
  constexpr float kFar = 3;
  return std::abs(x) > kFar ? std::copysign(kFar * (1 + std::log(std::abs(x) / kFar)), x) : x;
}

}  // namespace

void EmbeddedObservation::compute(const Network& network, const Node& node,
                                  std::span<const ObservedValue> given) {
  represent_all(network, node, given);
  run_layers(network, node);
  const std::size_t skip = observation_skip(network.config(), node);
  std::vector<float> past(rows * skip);
  if (node.observation_skip != kNoBlock) {
    apply_layer(network.parameters(), node.observation_skip, rows, values.data(), columns,
                past.data());
  } else {
    for (std::size_t r = 0; r < rows; ++r) {
      std::copy_n(values.data() + r * columns, skip, past.data() + r * skip);
    }
  }
  pool(node, past, skip);
}

void EmbeddedObservation::represent_all(const Network& network, const Node& node,
                                        std::span<const ObservedValue> given) {
  const std::size_t inputs = node.value.inputs();
  rows = given.size();
  columns = observation_columns(node);
  values.assign(rows * columns, 0.0f);
  begins.clear();
  for (std::size_t r = 0; r < rows; ++r) {
    float* row = &values[r * columns];
    const bool first = r == 0 || given[r].group != given[r - 1].group;
    if (first) begins.push_back(r);
    represent(node.value, node.scaling, *given[r].value, row);
    if (network.config().compress_tails) std::transform(row, row + inputs, row, compressed);
    if (!is_list(node)) continue;
    if (!first) {
      std::copy_n(row - columns, inputs, row + inputs);
      row[2 * inputs] = 1;
    }
    const auto index = index_features(given[r].index);
    std::copy(index.begin(), index.end(), row + 2 * inputs + 1);
  }
  begins.push_back(rows);
}

// The mean over each group, with its length.
void EmbeddedObservation::pool(const Node& node, const std::vector<float>& past, std::size_t skip) {
  const std::size_t embedding = layers.back().outputs, length = length_features(node);
  width = embedding + length + skip;
  features.assign(groups() * width, 0.0f);
  for (std::size_t g = 0; g < groups(); ++g) {
    float* sums = &features[g * width];
    for (std::size_t r = begins[g]; r < begins[g + 1]; ++r) {
      kernels::add(embedding, &layers.back().out[r * embedding], sums);
      kernels::add(skip, past.data() + r * skip, sums + embedding + length);
    }
    const auto count = static_cast<float>(begins[g + 1] - begins[g]);
    for (std::size_t j = 0; j < width; ++j) sums[j] /= count;
    if (length == 0) continue;
    sums[embedding] = std::log1p(count) / 4;
    sums[embedding + 1] = 1 / std::sqrt(count);
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
  projected.resize(groups() * network.observation_outputs());
  apply_layer(network.parameters(), node.observation_projection, groups(), features.data(), width,
              projected.data());
}

std::vector<float> observation_inputs(const Network& network, std::span<const Observed> observed) {
  std::vector<float> sum(network.observation_outputs(), 0.0f), part;
  EmbeddedObservation embedded;
  std::vector<ObservedValue> values;
  for (std::size_t begin = 0, end = 0; begin < observed.size(); begin = end) {
    values.clear();
    const NodeId id = observed[begin].node;
    for (; end < observed.size() && observed[end].node == id; ++end) {
      values.push_back({&observed[end].value, 0, observed[end].index});
    }
    embedded.compute(network, network.node(id), values);
    embedded.project(network, network.node(id), part);
    for (std::size_t j = 0; j < sum.size(); ++j) sum[j] += part[j];
  }
  return sum;
}

double remoteness(const Network& network, std::span<const Observed> observed) {
  double largest = 0;
  std::vector<float> numbers;
  for (const auto& [id, value, index] : observed) {
    const Node& node = network.node(id);
    numbers.resize(node.value.inputs());
    represent(node.value, node.scaling, value, numbers.data());
    for (const float x : numbers) largest = std::max(largest, std::abs(static_cast<double>(x)));
  }
  return largest;
}

}  // namespace psn
