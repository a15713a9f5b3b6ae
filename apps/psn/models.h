// From a model argument to a Simulator.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apps/psn/options/options.h"
#include "psn/core/in_process.h"
#include "psn/ppx/remote.h"

namespace psn::app {

// All built-in models, in the order of `psn models`.
std::vector<Model> built_in_models();

// A built-in name, a plugin, a surrogate (a file whose name ends in .psn), or simulators in other
// processes. Throws InvalidArgument with the nearest name for an unknown one, DataError for a file
// that cannot be loaded, ModelError for a remote simulator that does not answer.
std::unique_ptr<Simulator> load_simulator(const std::string& argument, std::size_t stack_kib,
                                          const ppx::RemoteOptions& remote = {});
std::unique_ptr<Simulator> load_simulator(const SimulationOptions& options,
                                          const std::string& argument);

}  // namespace psn::app
