// The layers of a network's observations.
#include <algorithm>
#include <cmath>

#include "psn/nn/network.h"

namespace psn {

std::vector<Convolution> observation_convolutions(const NetworkConfig& config, const Node& node) {
  if (node.value.family == family_of<Categorical>) return {};  // one-hot: no array of numbers
  const ObservationLayers& layers = config.observation_layers_of(node.name, node.site_name);
  return convolutions_for(node.value.shape, layers.convolution_layers, layers.channels);
}

std::size_t observation_skip(const NetworkConfig& config, const Node& node) {
  return std::min(config.observation_layers_of(node.name, node.site_name).skip,
                  node.value.inputs());
}

// The projection is zero as long as nobody starts it.
void Network::add_observation_layers(Node& node, std::uint64_t stream) {
  const ObservationLayers& layers = config_.observation_layers_of(node.name, node.site_name);
  node.convolutions = observation_convolutions(config_, node);
  Rng seeds(seed_, stream + 1, 0x6f62);
  const auto add = [&](std::size_t rows, std::size_t inputs) {
    node.observation_layers.push_back(
        parameters_.add(static_cast<std::uint32_t>(rows), static_cast<std::uint32_t>(inputs + 1)));
    initialize(node.observation_layers.back(), inputs, seeds.bits());
  };
  std::size_t width = node.value.inputs();
  for (const Convolution& convolution : node.convolutions) {
    add(convolution.channels_out, convolution.window());
    width = convolution.outputs();
  }
  for (std::size_t layer = 0; layer < layers.num_layers; ++layer) {
    add(layers.hidden_dim, width);
    width = layers.hidden_dim;
  }
  const std::size_t inputs = node.value.inputs(), skip = observation_skip(config_, node);
  if (skip < inputs && skip > 0) {
    node.observation_skip =
        parameters_.add(static_cast<std::uint32_t>(skip), static_cast<std::uint32_t>(inputs + 1));
    initialize(node.observation_skip, inputs, seeds.bits());
  }
  node.observation_projection = parameters_.add(static_cast<std::uint32_t>(core_inputs()),
                                                static_cast<std::uint32_t>(width + skip + 1));
}

void Network::start_observations() {
  std::size_t inputs = 0;
  for (NodeId id = 0; id < size(); ++id) {
    if (is_observation(id)) inputs += observation_skip(config_, nodes_[id]);
  }
  // All of them together move a gate by about one.
  const double bound = std::sqrt(3 / static_cast<double>(std::max<std::size_t>(1, inputs)));
  for (NodeId id = 0; id < size(); ++id) {
    if (!is_observation(id)) continue;
    Rng rng(seed_, 1000 + 10ull * id, 0x6f70);
    const Block& block = parameters_.block(nodes_[id].observation_projection);
    const std::size_t skip = observation_skip(config_, nodes_[id]);
    for (std::size_t row = 1; row <= block.rows; ++row) {
      float* end = parameters_.values(nodes_[id].observation_projection) + row * block.columns - 1;
      for (float* w = end - skip; w != end; ++w) {
        *w = static_cast<float>(bound * (2 * rng.uniform() - 1));
      }
    }
  }
}

}  // namespace psn
