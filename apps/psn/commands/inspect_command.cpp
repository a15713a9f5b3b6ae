// psn inspect: what is in a surrogate's file.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "apps/psn/commands/commands.h"
#include "apps/psn/options/options.h"
#include "psn/base/text.h"
#include "psn/nn/network_file.h"
#include "psn/services/inspect.h"

namespace psn::app {
namespace {

using nlohmann::ordered_json;
using services::InspectedNetwork;
using services::InspectedNode;

// The trainer's own record; what is not JSON is shown as text.
ordered_json history_json(const std::string& history) {
  auto parsed = ordered_json::parse(history, nullptr, false);
  return parsed.is_discarded() ? ordered_json(one_line(history)) : parsed;
}

ordered_json nodes_json(const InspectedNetwork& network) {
  ordered_json nodes = ordered_json::array();
  for (const InspectedNode& node : network.nodes) {
    ordered_json entry = {{"id", nodes.size()}, {"address", node.address}};
    if (node.choice) {
      entry.update({{"name", node.name},
                    {"role", role_name(node.role)},
                    {"control", node.control},
                    {"family", node.family},
                    {"shape", node.shape}});
      if (node.categories > 0) entry["categories"] = node.categories;
      if (node.learned) entry["learned"] = true;
    }
    entry["successors"] = ordered_json::array();
    for (const auto& [id, index] : node.successors) {
      const std::string& address = network.nodes[id].address;
      entry["successors"].push_back(index.empty() ? address : address + " " + index);
    }
    nodes.push_back(std::move(entry));
  }
  return nodes;
}

void print_json(const InspectedNetwork& network) {
  const ordered_json json = {{"file", network.file},
                             {"config", ordered_json::parse(config_json(network.config))},
                             {"seed", network.seed},
                             {"updates", network.updates},
                             {"optimizer", network.optimizer},
                             {"parameters", network.parameters},
                             {"addresses", network.nodes.size()},
                             {"transitions", network.transitions},
                             {"nodes", nodes_json(network)},
                             {"history", history_json(network.history)}};
  fmt::print("{}\n", json.dump(2));
}

void print_table(const InspectedNetwork& network) {
  fmt::print("{}: {} parameters, {} addresses, {} transitions, {} updates, seed {}{}\n",
             network.file, network.parameters, network.nodes.size(), network.transitions,
             network.updates, network.seed, network.optimizer ? ", training can go on" : "");
  const auto config = ordered_json::parse(config_json(network.config));
  for (const auto& [key, value] : config.items()) fmt::print("  {:32} {}\n", key, value.dump());
  fmt::print("\n{:>5} {:8} {:44} {}\n", "id", "role", "address", "successors");
  for (std::size_t id = 0; id < network.nodes.size(); ++id) {
    const InspectedNode& node = network.nodes[id];
    std::string successors;
    for (const auto& [next, index] : node.successors) {
      successors += fmt::format(" {}{}{}", next, index.empty() ? "" : ":", index);
    }
    fmt::print("{:5} {:8} {:44}{}{}\n", id, node.choice ? role_name(node.role) : "-", node.address,
               successors, node.learned ? "  learned" : "");
  }
  if (!network.history.empty()) fmt::print("\nhistory: {}\n", one_line(network.history));
}

}  // namespace

void add_inspect_command(CLI::App& program) {
  auto* command = program.add_subcommand("inspect", "what is in a surrogate's file");
  auto common = std::make_shared<CommonOptions>();
  auto path = std::make_shared<std::string>();
  command->add_option("file", *path, "a surrogate, such as s.psn")->required();
  common->add_to(*command);
  command->callback([common, path] {
    const InspectedNetwork network = services::inspect(*path);
    common->json ? print_json(network) : print_table(network);
  });
}

}  // namespace psn::app
