// psn inspect: what is in a surrogate's file.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "apps/psn/commands/commands.h"
#include "apps/psn/options/options.h"
#include "psn/base/text.h"
#include "psn/nn/network_file.h"
#include "psn/nn/network_json.h"
#include "psn/nn/steps.h"

namespace psn::app {
namespace {

using nlohmann::ordered_json;

// How its index is said, where indices are shared: "last+1", "=0".
std::string index_text(const Place& place) {
  if (place.base == Base::kNone) return "";
  if (place.base == Base::kAbsolute) return fmt::format("={}", place.offset);
  return fmt::format("{}{:+}", base_name(place.base), place.offset);
}

std::string text_of(const Network& network, const Place& place) {
  const std::string& text = network.node(place.node).text;
  return place.base == Base::kNone ? text : text + " " + index_text(place);
}

// The trainer's own record; what is not JSON is shown as text.
ordered_json history_json(const std::string& history) {
  auto parsed = ordered_json::parse(history, nullptr, false);
  return parsed.is_discarded() ? ordered_json(one_line(history)) : parsed;
}

ordered_json nodes_json(const Network& network) {
  ordered_json nodes = ordered_json::array();
  for (NodeId id = 0; id < network.size(); ++id) {
    const Node& node = network.node(id);
    ordered_json entry = {{"id", id}, {"address", node.text}};
    if (id > Network::kEnd) {
      entry.update({{"name", node.name},
                    {"role", role_name(node.role)},
                    {"control", node.control},
                    {"family", family_name(node.value.family)},
                    {"shape", node.value.shape}});
      if (node.value.categories > 0) entry["categories"] = node.value.categories;
      if (is_derived(node.role)) entry["learned"] = true;
    }
    entry["successors"] = ordered_json::array();
    for (const Place& next : node.successors) {
      entry["successors"].push_back(text_of(network, next));
    }
    nodes.push_back(std::move(entry));
  }
  return nodes;
}

void print_json(const std::string& path, const NetworkFile& file) {
  const Network& network = *file.network;
  const ordered_json json = {{"file", path},
                             {"config", ordered_json::parse(config_json(network.config()))},
                             {"seed", network.seed()},
                             {"updates", network.parameters().step},
                             {"optimizer", file.optimizer},
                             {"parameters", network.parameters().size()},
                             {"addresses", network.size()},
                             {"transitions", network.transition_count()},
                             {"nodes", nodes_json(network)},
                             {"history", history_json(file.history)}};
  fmt::print("{}\n", json.dump(2));
}

void print_table(const std::string& path, const NetworkFile& file) {
  const Network& network = *file.network;
  fmt::print("{}: {} parameters, {} addresses, {} transitions, {} updates, seed {}{}\n", path,
             network.parameters().size(), network.size(), network.transition_count(),
             network.parameters().step, network.seed(),
             file.optimizer ? ", training can go on" : "");
  const auto config = ordered_json::parse(config_json(network.config()));
  for (const auto& [key, value] : config.items()) fmt::print("  {:32} {}\n", key, value.dump());
  fmt::print("\n{:>5} {:8} {:44} {}\n", "id", "role", "address", "successors");
  for (NodeId id = 0; id < network.size(); ++id) {
    const Node& node = network.node(id);
    std::string successors;
    for (const Place& place : node.successors) {
      const std::string index = index_text(place);
      successors += fmt::format(" {}{}{}", place.node, index.empty() ? "" : ":", index);
    }
    fmt::print("{:5} {:8} {:44}{}{}\n", id, id > Network::kEnd ? role_name(node.role) : "-",
               node.text, successors, is_derived(node.role) ? "  learned" : "");
  }
  if (!file.history.empty()) fmt::print("\nhistory: {}\n", one_line(file.history));
}

}  // namespace

void add_inspect_command(CLI::App& program) {
  auto* command = program.add_subcommand("inspect", "what is in a surrogate's file");
  auto common = std::make_shared<CommonOptions>();
  auto path = std::make_shared<std::string>();
  command->add_option("file", *path, "a surrogate, such as s.psn")->required();
  common->add_to(*command);
  command->callback([common, path] {
    const NetworkFile file = load_network(*path);
    common->json ? print_json(*path, file) : print_table(*path, file);
  });
}

}  // namespace psn::app
