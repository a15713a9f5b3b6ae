#include "psn/services/inspect.h"

#include <fmt/format.h>

#include "psn/nn/network_file.h"
#include "psn/nn/network_json.h"
#include "psn/nn/steps.h"

namespace psn::services {
namespace {

std::string index_text(const Place& place) {
  if (place.base == Base::kNone) return "";
  if (place.base == Base::kAbsolute) return fmt::format("={}", place.offset);
  return fmt::format("{}{:+}", base_name(place.base), place.offset);
}

InspectedNode inspected(const Node& node, bool choice) {
  InspectedNode result{.address = node.text, .name = node.name, .choice = choice};
  if (choice) {
    result.role = node.role;
    result.control = node.control;
    result.learned = is_derived(node);
    result.family = family_name(node.value.family);
    result.shape = node.value.shape;
    result.categories = node.value.categories;
  }
  for (const Place& place : node.successors) {
    result.successors.push_back({place.node, index_text(place)});
  }
  return result;
}

}  // namespace

InspectedNetwork inspect(const std::string& file) {
  const NetworkFile content = load_network(file);
  const Network& network = *content.network;
  InspectedNetwork result{.file = file,
                          .config = network.config(),
                          .seed = network.seed(),
                          .updates = network.parameters().step,
                          .optimizer = content.optimizer,
                          .parameters = network.parameters().size(),
                          .transitions = network.transition_count(),
                          .history = content.history};
  for (NodeId id = 0; id < network.size(); ++id) {
    result.nodes.push_back(inspected(network.node(id), id > Network::kEnd));
  }
  return result;
}

}  // namespace psn::services
