#include "psn/services/recipe.h"

namespace psn::services {

Preset first_recipe(const std::string& name, Purpose purpose) {
  Preset recipe = preset(name, purpose);
  recipe.network.tags = purpose == Purpose::kSurrogate && name != "paper";
  return recipe;
}

void plan_for_amount(Preset& recipe, const std::string& name, std::uint64_t stored) {
  if (name == "paper" || stored > 0) return;
  recipe.training.batch_size = default_batch_size(recipe.training.traces, recipe.network.purpose);
}

}  // namespace psn::services
