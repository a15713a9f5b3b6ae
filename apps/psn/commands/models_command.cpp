#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "apps/psn/built_in_models.h"
#include "apps/psn/commands/commands.h"
#include "apps/psn/options/options.h"

namespace psn::app {
namespace {

void print_models_json() {
  nlohmann::ordered_json json;
  for (const ModelGroup& group : built_in_groups()) {
    for (const Model& model : group.models) {
      json["models"].push_back(
          {{"name", model.name}, {"group", group.name}, {"description", model.description}});
    }
  }
  fmt::print("{}\n", json.dump(2));
}

void print_models() {
  for (const ModelGroup& group : built_in_groups()) {
    fmt::print("{}: {}\n", group.name, group.description);
    for (const Model& model : group.models) {
      fmt::print("  {:26} {}\n", model.name, model.description);
    }
  }
}

}  // namespace

void add_models_command(CLI::App& program) {
  auto* command = program.add_subcommand("models", "list the built-in models");
  auto common = std::make_shared<CommonOptions>();
  common->add_to(*command);
  command->callback([common] {
    if (common->json) {
      print_models_json();
    } else {
      print_models();
    }
  });
}

}  // namespace psn::app
