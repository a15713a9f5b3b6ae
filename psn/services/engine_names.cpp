#include "psn/services/engine_names.h"

#include <algorithm>

namespace psn::services {

const std::map<std::string, Engine>& engine_names() {
  static const std::map<std::string, Engine> names{
      {"is", Engine::kImportance},  {"ic", Engine::kCompiled},    {"network", Engine::kNetwork},
      {"lmh", Engine::kPriorMoves}, {"rmh", Engine::kRandomWalk}, {"da", Engine::kDelayed},
      {"pm", Engine::kMarginal}};
  return names;
}

const std::string& name_of(Engine engine) {
  const auto& names = engine_names();
  return std::find_if(names.begin(), names.end(),
                      [&](const auto& known) { return known.second == engine; })
      ->first;
}

}  // namespace psn::services
