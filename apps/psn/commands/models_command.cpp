#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "apps/psn/built_in_models.h"
#include "apps/psn/commands/commands.h"
#include "apps/psn/options/options.h"

namespace psn::app {

void add_models_command(CLI::App& program) {
  auto* command = program.add_subcommand("models", "list the built-in models");
  auto common = std::make_shared<CommonOptions>();
  common->add_to(*command);
  command->callback([common] {
    nlohmann::ordered_json json;
    for (const Model& model : built_in_models()) {
      if (common->json) {
        json["models"].push_back({{"name", model.name}, {"description", model.description}});
      } else {
        fmt::print("{:20} {}\n", model.name, model.description);
      }
    }
    if (common->json) fmt::print("{}\n", json.dump(2));
  });
}

}  // namespace psn::app
