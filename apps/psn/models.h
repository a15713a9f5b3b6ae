// From a model argument to a Simulator.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "psn/core/in_process.h"

namespace psn::app {

// All built-in models, in the order of `psn models`.
std::vector<Model> built_in_models();

// A built-in name, a plugin, or a surrogate (a file whose name ends in .psn). Throws
// InvalidArgument with the nearest name for an unknown one, DataError for a file that cannot be
// loaded.
std::unique_ptr<Simulator> load_simulator(const std::string& argument, std::size_t stack_kib);

}  // namespace psn::app
