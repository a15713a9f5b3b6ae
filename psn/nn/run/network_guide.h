// Inference compilation's guide (the paper's Section 2.2): an inference network proposes the latent
// choices of all running simulations at once, given the observations. It is the same for a
// simulator in process, a remote one and a surrogate.
//
// What the network does not know is drawn from the model, and the network does not see it.
#pragma once

#include <memory>
#include <vector>

#include "psn/core/observations.h"
#include "psn/core/run.h"
#include "psn/nn/observation.h"
#include "psn/nn/run/executor.h"

namespace psn {

struct NetworkGuideOptions {
  // This share of traces is drawn from the model as a whole, and the weights are those of the
  // mixture: p / ((1 - a) q + a p) <= 1 / a.
  double defensive = 0;
};

// The values that an inference network's observations have; what may be missing may be left out.
// Throws as network_guide().
std::vector<Observed> observed_values(const Network& network, Simulator& simulator,
                                      const Observations& observations);

// Throws InvalidArgument if an observation that the network needs is missing or has another shape,
// and for a network that is not for inference. Where `observations` say nothing, the values that
// the program itself comes with are looked up by one run of it.
GuideFactory network_guide(std::shared_ptr<const CompiledNetwork> network, Simulator& simulator,
                           const Observations& observations,
                           const NetworkGuideOptions& options = {});

}  // namespace psn
