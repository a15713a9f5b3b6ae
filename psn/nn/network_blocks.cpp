#include "psn/nn/network_blocks.h"

#include <fmt/format.h>

namespace psn {

std::string node_prefix(NodeId id) {
  return fmt::format("node.{}.", id);
}

void each_block(const Network& network,
                const std::function<void(const std::string&, BlockId)>& visit) {
  BlockId core = 0;
  for (const CoreBlock& block : network.core().blocks()) visit("core." + block.name, core++);
  const auto& projections = network.projections();
  visit("projection.previous_type", projections.previous_type);
  visit("projection.previous_address", projections.previous_address);
  visit("projection.current_type", projections.current_type);
  visit("projection.current_address", projections.current_address);
  visit("projection.instance", projections.instance);
  if (projections.index != kNoBlock) visit("projection.index", projections.index);
  if (network.tally()) visit("projection.tally", projections.tally);
  visit("embedding.type", network.type_embedding());
  visit("embedding.address", network.address_embedding());
  for (NodeId id = 0; id < network.size(); ++id) {
    const Node& node = network.node(id);
    const std::string prefix = node_prefix(id);
    const auto one = [&](const char* name, BlockId block) {
      if (block != kNoBlock) visit(prefix + name, block);
    };
    const auto list = [&](const char* name, const std::vector<BlockId>& blocks) {
      for (std::size_t i = 0; i < blocks.size(); ++i) {
        visit(fmt::format("{}{}.{}", prefix, name, i), blocks[i]);
      }
    };
    one("transition", node.transition);
    if (network.tally()) one("transition_tally", node.transition_tally);
    one("embedding", node.embedding);
    one("recall", node.recall);
    one("transition_hidden", node.transition_hidden);
    list("value", node.value_layers);
    one("follow", node.follow);
    list("observation", node.observation_layers);
    one("observation_skip", node.observation_skip);
    one("observation_projection", node.observation_projection);
  }
}

}  // namespace psn
