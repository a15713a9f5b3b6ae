#include "apps/psn/output/learned_tags.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "psn/nn/steps.h"
#include "psn/nn/surrogate.h"

namespace psn::app {
namespace {

bool is_learned_tag(const Network& network, const std::string& name) {
  const auto indexed = split_index(name);
  for (NodeId id = Network::kEnd + 1; id < network.size(); ++id) {
    const Node& node = network.node(id);
    if (!is_derived(node.role)) continue;
    if (node.name == name || node.text == name) return true;
    if (network.shares_indices() && indexed && node.name == indexed->name) return true;
  }
  return false;
}

}  // namespace

void add_learned_tags(const Simulator& simulator, const std::vector<std::string>& names,
                      nlohmann::ordered_json& json) {
  const auto* surrogate = dynamic_cast<const SurrogateSimulator*>(&simulator);
  if (!surrogate) return;
  std::vector<std::string> learned;
  for (const std::string& name : names) {
    if (is_learned_tag(surrogate->network(), name)) learned.push_back(name);
  }
  if (!learned.empty()) json["learned"] = learned;
}

void print_learned_tags(const nlohmann::ordered_json& json) {
  if (!json.contains("learned")) return;
  fmt::print("learned by the surrogate, not computed: {}\n",
             fmt::join(json["learned"].get<std::vector<std::string>>(), ", "));
}

}  // namespace psn::app
