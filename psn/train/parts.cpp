#include "psn/train/parts.h"

#include <algorithm>

namespace psn {
namespace {

// What Gradient keeps of one choice at a node, in numbers.
std::size_t numbers_of_row(const Network& network, const Node& node) {
  const Parameters& p = network.parameters();
  const std::size_t h = network.hidden() + network.context(), e = network.embedding();
  const std::size_t core = network.core().numbers_of_row();
  std::size_t heads = network.config().transition_hidden_dim + node.value.inputs(), widest = 0;
  for (const BlockId layer : node.value_layers) {
    heads += p.block(layer).rows;
    widest = std::max<std::size_t>(widest, p.block(layer).rows);
  }
  if (node.follow != kNoBlock) {
    heads += node.proposal.size *
             (p.block(node.follow).columns + node.proposal.of_component().outputs() + 1);
  }
  if (node.transition != kNoBlock) {
    widest = std::max<std::size_t>(widest, p.block(node.transition).rows);
  }
  return core + 2 * (h + e) + heads + 2 * widest + 2 * network.tally_inputs() +
         (network.recalls() ? 2 * network.context() : 0);
}

// And of one observation: values and what each layer makes of them, forward and back.
std::size_t numbers_of_observation(const Network& network, const Node& node) {
  const Parameters& p = network.parameters();
  std::size_t numbers = node.value.inputs() + network.observation_outputs() +
                        p.block(node.observation_projection).columns;
  for (std::size_t i = 0; i < node.observation_layers.size(); ++i) {
    const Block& block = p.block(node.observation_layers[i]);
    const std::size_t windows =
        i < node.convolutions.size() ? node.convolutions[i].windows() : std::size_t{1};
    numbers += windows * (block.rows + block.columns);
  }
  return 2 * numbers;
}

}  // namespace

std::size_t each_part(const Network& network, const Growth& growth, std::span<const Trace> traces,
                      std::size_t memory_mb,
                      const std::function<bool(Batch&, std::size_t)>& visit) {
  Batch batch = growth.flatten(traces);
  const auto parts = parts_of(network, batch, 1e6 * static_cast<double>(memory_mb));
  for (const BatchPart& part : parts) {
    if (parts.size() > 1) batch = growth.flatten(traces.subspan(part.first, part.count));
    if (!visit(batch, part.first)) break;
  }
  return parts.size();
}

std::vector<BatchPart> parts_of(const Network& network, const Batch& batch, double bytes) {
  constexpr double kPerNumber = 1.25 * sizeof(float);  // buffers have some room to grow
  std::vector<double> by_trace(batch.traces());
  std::vector<double> by_node(network.size());
  for (const auto& segment : batch.segments) {
    by_node[segment.node] =
        kPerNumber * static_cast<double>(numbers_of_row(network, network.node(segment.node)));
  }
  for (std::size_t row = 0; row < batch.rows(); ++row) {
    by_trace[batch.trace[batch.position[row]]] += by_node[batch.node[row]];
  }
  for (const auto& observed : batch.observed) {
    by_trace[batch.trace[observed.position]] +=
        kPerNumber *
        static_cast<double>(numbers_of_observation(network, network.node(observed.node)));
  }
  std::vector<BatchPart> parts{{0, 0}};
  double taken = 0;
  for (std::size_t i = 0; i < by_trace.size(); ++i) {
    if (parts.back().count > 0 && taken + by_trace[i] > bytes) {
      parts.push_back({i, 0});
      taken = 0;
    }
    ++parts.back().count;
    taken += by_trace[i];
  }
  return parts;
}

}  // namespace psn
