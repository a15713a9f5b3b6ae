// A yardstick for inference networks: what linear regression reaches on the same traces.
#pragma once

#include <optional>
#include <span>

#include "psn/core/trace.h"

namespace psn {

// How much better than the prior, in nats per trace, these proposals are: each component of each
// continuous latent that comes in every trace is regressed, in coordinates without bounds, on all
// observations that do, and proposed as a normal around what is predicted; what this does not help
// is drawn from the prior. Fitted to one half of the traces and judged on the other, both ways.
// Nullopt where there is nothing to regress, or too few traces for so many observations. The traces
// need their distributions.
std::optional<double> linear_gain(std::span<const Trace> traces);

}  // namespace psn
