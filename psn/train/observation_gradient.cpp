#include "psn/train/observation_gradient.h"

#include <algorithm>

#include "psn/nn/kernels.h"
#include "psn/nn/layer.h"

namespace psn {
namespace {

// Columns [begin, end) of a matrix with rows of `width` numbers.
std::vector<float> columns(const std::vector<float>& matrix, std::size_t width, std::size_t begin,
                           std::size_t end) {
  std::vector<float> part;
  part.reserve(matrix.size() / width * (end - begin));
  for (auto row = matrix.begin(); row != matrix.end(); row += static_cast<std::ptrdiff_t>(width)) {
    part.insert(part.end(), row + static_cast<std::ptrdiff_t>(begin),
                row + static_cast<std::ptrdiff_t>(end));
  }
  return part;
}

}  // namespace

void ObservationGradient::compute(const Batch& batch, std::vector<float>& inputs) {
  const std::size_t width = network_.observation_outputs();
  inputs.assign(batch.traces() * width, 0.0f);
  observed_nodes_.clear();
  std::vector<const Value*> values;
  std::vector<float> projected;
  const auto& observed = batch.observed;
  for (std::size_t begin = 0, end = 0; begin < observed.size(); begin = end) {
    values.clear();
    for (; end < observed.size() && observed[end].node == observed[begin].node; ++end) {
      values.push_back(&observed[end].entry->value);
    }
    ObservedNode& group =
        observed_nodes_.emplace_back(ObservedNode{observed[begin].node, begin, end, {}});
    const Node& node = network_.node(group.node);
    group.embedded.compute(network_, node, values);
    group.embedded.project(network_, node, projected);
    for (std::size_t i = begin; i < end; ++i) {
      kernels::add(width, &projected[(i - begin) * width], &inputs[observed[i].position * width]);
    }
  }
}

void ObservationGradient::back(const Batch& batch, const std::vector<float>& d_inputs,
                               std::vector<BlockId>& touched) {
  const std::size_t width = network_.observation_outputs();
  for (const ObservedNode& group : observed_nodes_) {
    const Node& node = network_.node(group.node);
    const EmbeddedObservation& embedded = group.embedded;
    std::vector<float> d_projected(embedded.rows * width);
    std::vector<float> d_features(embedded.rows * embedded.width);
    for (std::size_t i = group.begin; i < group.end; ++i) {
      std::copy_n(&d_inputs[batch.observed[i].position * width], width,
                  &d_projected[(i - group.begin) * width]);
    }
    touched.push_back(node.observation_projection);
    apply_layer_back(network_.parameters(), node.observation_projection, embedded.rows,
                     embedded.features.data(), embedded.width, d_projected.data(),
                     d_features.data(), embedded.width, embedded.width, 0);
    const std::size_t outputs = embedded.layers.back().outputs;
    if (node.observation_skip != kNoBlock) {
      touched.push_back(node.observation_skip);
      const auto d_skip = columns(d_features, embedded.width, outputs, embedded.width);
      apply_layer_back(network_.parameters(), node.observation_skip, embedded.rows,
                       embedded.values.data(), node.value.inputs(), d_skip.data(), nullptr, 0, 0,
                       0);
    }
    back_through_layers(node, embedded, columns(d_features, embedded.width, 0, outputs), touched);
  }
}

void ObservationGradient::back_through_layers(const Node& node, const EmbeddedObservation& embedded,
                                              std::vector<float> d_out,
                                              std::vector<BlockId>& touched) {
  for (std::size_t i = embedded.layers.size(); i-- > 0;) {
    const auto& layer = embedded.layers[i];
    kernels::relu_back(layer.rows * layer.outputs, layer.out.data(), d_out.data());
    std::vector<float> d_in(i > 0 ? layer.rows * layer.inputs : 0);
    touched.push_back(node.observation_layers[i]);
    apply_layer_back(network_.parameters(), node.observation_layers[i], layer.rows, layer.in.data(),
                     layer.inputs, d_out.data(), i > 0 ? d_in.data() : nullptr, layer.inputs,
                     layer.inputs, 0);
    if (i == 0) return;
    if (i < node.convolutions.size()) {
      const Convolution& convolution = node.convolutions[i];
      const std::size_t values = layer.rows / convolution.windows();
      d_out.assign(values * convolution.inputs(), 0.0f);
      for (std::size_t r = 0; r < values; ++r) {
        convolution.scatter(&d_in[r * convolution.windows() * layer.inputs],
                            &d_out[r * convolution.inputs()]);
      }
    } else {
      d_out = std::move(d_in);
    }
  }
}

}  // namespace psn
