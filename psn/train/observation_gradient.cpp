#include "psn/train/observation_gradient.h"

#include <algorithm>

#include "psn/nn/kernels.h"
#include "psn/nn/layer.h"

namespace psn {
namespace {

// Columns [begin, end) of the gradient by features, as each value has them: its share of the mean.
std::vector<float> of_values(const EmbeddedObservation& embedded, const std::vector<float>& d,
                             std::size_t begin, std::size_t end) {
  std::vector<float> part;
  part.reserve(embedded.rows * (end - begin));
  for (std::size_t g = 0; g < embedded.groups(); ++g) {
    const std::size_t count = embedded.begins[g + 1] - embedded.begins[g];
    for (std::size_t r = 0; r < count; ++r) {
      for (std::size_t j = begin; j < end; ++j) {
        part.push_back(d[g * embedded.width + j] / static_cast<float>(count));
      }
    }
  }
  return part;
}

}  // namespace

void ObservationGradient::compute(const Batch& batch, std::vector<float>& inputs) {
  const std::size_t width = network_.observation_outputs();
  inputs.assign(batch.traces() * width, 0.0f);
  observed_nodes_.clear();
  std::vector<ObservedValue> values;
  std::vector<float> projected;
  const auto& observed = batch.observed;
  for (std::size_t begin = 0, end = 0; begin < observed.size(); begin = end) {
    values.clear();
    for (std::uint32_t group = 0;
         end < observed.size() && observed[end].node == observed[begin].node; ++end) {
      group += end > begin && observed[end].position != observed[end - 1].position;
      const Entry& entry = *observed[end].entry;
      values.push_back({&entry.value, group, entry.address->variable->index});
    }
    ObservedNode& group =
        observed_nodes_.emplace_back(ObservedNode{observed[begin].node, begin, end, {}});
    const Node& node = network_.node(group.node);
    group.embedded.compute(network_, node, values);
    group.embedded.project(network_, node, projected);
    for (std::size_t g = 0; g < group.embedded.groups(); ++g) {
      const std::uint32_t position = observed[begin + group.embedded.begins[g]].position;
      kernels::add(width, &projected[g * width], &inputs[position * width]);
    }
  }
}

void ObservationGradient::back(const Batch& batch, const std::vector<float>& d_inputs,
                               std::vector<BlockId>& touched) {
  const std::size_t width = network_.observation_outputs();
  for (const ObservedNode& group : observed_nodes_) {
    const Node& node = network_.node(group.node);
    const EmbeddedObservation& embedded = group.embedded;
    const std::size_t groups = embedded.groups();
    std::vector<float> d_projected(groups * width), d_features(groups * embedded.width);
    for (std::size_t g = 0; g < groups; ++g) {
      const std::uint32_t position = batch.observed[group.begin + embedded.begins[g]].position;
      std::copy_n(&d_inputs[position * width], width, &d_projected[g * width]);
    }
    touched.push_back(node.observation_projection);
    apply_layer_back(network_.parameters(), node.observation_projection, groups,
                     embedded.features.data(), embedded.width, d_projected.data(),
                     d_features.data(), embedded.width, embedded.width, 0);
    const std::size_t outputs = embedded.layers.back().outputs;
    if (node.observation_skip != kNoBlock) {
      touched.push_back(node.observation_skip);
      const auto d_skip =
          of_values(embedded, d_features, outputs + length_features(node), embedded.width);
      apply_layer_back(network_.parameters(), node.observation_skip, embedded.rows,
                       embedded.values.data(), embedded.columns, d_skip.data(), nullptr, 0, 0, 0);
    }
    back_through_layers(node, embedded, of_values(embedded, d_features, 0, outputs), touched);
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
