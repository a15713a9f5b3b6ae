// What inference networks have besides: the layers of observations, and proposals.
#include <algorithm>
#include <cmath>

#include "psn/nn/network.h"

namespace psn {

std::size_t observation_columns(const Node& node) {
  const std::size_t inputs = node.value.inputs();
  return is_list(node) ? 2 * inputs + 1 + kIndexFeatures : inputs;
}

std::size_t length_features(const Node& node) {
  return is_list(node) ? 2 : 0;
}

std::vector<Convolution> observation_convolutions(const NetworkConfig& config, const Node& node) {
  if (node.value.family == family_of<Categorical>) return {};  // one-hot: no array of numbers
  if (is_list(node)) return {};
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
  std::size_t width = observation_columns(node);
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
  node.observation_projection =
      parameters_.add(static_cast<std::uint32_t>(observation_outputs()),
                      static_cast<std::uint32_t>(width + length_features(node) + skip + 1));
}

ProposalType proposal_of(const NetworkConfig& config, const Node& node) {
  ProposalType type = proposal_type(node.value, config.mixture_components);
  constexpr std::size_t kMost = 64;  // components: each looks at all before it
  type.sequential = config.sequential_proposals && type.size > 1 && type.size <= kMost &&
                    has_independent_components(node.value.family) &&
                    config.layers_of(node.name, node.site_name).num_layers > 1;
  return type;
}

// Mixtures start with parts that lie apart, as wide as their distance, and with a small share of
// the model's own distribution: parts that start alike learn alike, and a large share of the model
// is a place to stay.
void Network::start_proposal(const Node& node) {
  if (blank_ || node.proposal.kind == Domain::kCategory) return;
  constexpr double kModelShare = 0.05, kLogDeviation = -0.5;
  const std::size_t k = node.proposal.mixture;
  const BlockId last = node.value_layers.back();
  const std::size_t columns = parameters_.block(last).columns;
  const auto bias = [&](std::size_t output) -> float& {
    return parameters_.values(last)[(output + 1) * columns - 1];
  };
  const auto start = [&](std::size_t first, std::size_t components) {
    bias(first) = static_cast<float>(std::log(kModelShare / (1 - kModelShare) * double(k)));
    for (std::size_t c = 0; c < k; ++c) {
      bias(first + 1 + c) = 0;
      const double mean = normal_quantile((double(c) + 0.5) / double(k));
      for (std::size_t i = 0; i < components; ++i) {
        bias(first + 1 + k + 2 * (c * components + i)) = static_cast<float>(mean);
        bias(first + 1 + k + 2 * (c * components + i) + 1) = kLogDeviation;
      }
    }
  };
  if (!node.proposal.sequential) return start(0, node.proposal.size);
  const std::size_t outputs = node.proposal.of_component().outputs();
  for (std::size_t i = 0; i < node.proposal.size; ++i) start(i * outputs, 1);
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
