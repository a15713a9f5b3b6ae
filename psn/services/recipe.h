// The recipe that a person's training begins with, before anything is set by hand.
#pragma once

#include <cstdint>
#include <string>

#include "psn/train/options.h"

namespace psn::services {

// A preset; surrogates learn tags unless told not to, but the paper's do not.
Preset first_recipe(const std::string& name, Purpose purpose);

// What follows from how much is to be learned from, once that is known: `traces` in the recipe.
// `stored`: so many are there already; 0: they are made meanwhile.
void plan_for_amount(Preset& recipe, const std::string& name, std::uint64_t stored);

}  // namespace psn::services
