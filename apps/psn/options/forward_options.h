// Options of commands that run a model forward.
#pragma once

#include <string>
#include <vector>

#include "apps/psn/options/options.h"
#include "apps/psn/options/surrogate_options.h"
#include "psn/services/forward_run.h"

namespace psn::app {

struct ForwardArguments {
  CommonOptions common;
  SimulationArguments simulation;
  SurrogateArguments surrogate;
  std::vector<std::string> queries, given;

  // Throws InvalidArgument for what --given cannot mean.
  services::ForwardOptions chosen() const;
};

}  // namespace psn::app
