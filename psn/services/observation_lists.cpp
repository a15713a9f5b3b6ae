#include "psn/services/observation_lists.h"

#include <algorithm>
#include <map>
#include <set>

namespace psn::services {
namespace {

// One of several of its kind in a run.
bool is_one_of_many(const Address& address) {
  const Variable& variable = *address.variable;
  return variable.index || address.instance > 1 || !variable.site->scope.empty();
}

}  // namespace

std::vector<std::string> lists_of_random_length(std::span<const Trace> traces) {
  std::map<std::string, std::set<std::size_t>> lengths;  // by name
  std::size_t runs = 0;
  for (const Trace& trace : traces) {
    std::map<std::string, std::size_t> of_run;
    for (const Entry& entry : trace.entries) {
      const Address& address = *entry.address;
      if (entry.role == Role::kSample && entry.control && is_one_of_many(address)) return {};
      const Site& site = *address.variable->site;
      if (entry.role == Role::kObserve && address.variable->index && !site.name.empty()) {
        ++of_run[site.name];
      }
    }
    // A list that is not there has no values, in this run or in those before.
    for (const auto& [name, seen] : lengths) of_run.try_emplace(name, 0);
    for (const auto& [name, length] : of_run) {
      if (runs > 0 && !lengths.contains(name)) lengths[name].insert(0);
      lengths[name].insert(length);
    }
    ++runs;
  }
  std::vector<std::string> names;
  for (const auto& [name, seen] : lengths) {
    if (seen.size() > 1) names.push_back(name);
  }
  return names;
}

void share_lists(NetworkConfig& config, std::span<const Trace> traces) {
  for (const std::string& name : lists_of_random_length(traces)) {
    if (config.observe_embedding.contains(name)) continue;
    ObservationLayers layers = config.observation_layers;
    layers.shared = true;
    config.observe_embedding.emplace(name, layers);
  }
}

}  // namespace psn::services
