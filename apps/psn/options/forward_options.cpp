#include "apps/psn/options/forward_options.h"

#include "apps/psn/options/observe.h"

namespace psn::app {

services::ForwardOptions ForwardArguments::chosen() const {
  services::ForwardOptions options{simulation, surrogate.use(), held_values(given), queries};
  options.simulation.seed = common.seed;
  return options;
}

}  // namespace psn::app
