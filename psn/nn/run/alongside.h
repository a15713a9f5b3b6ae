// Alongside: a run of a simulator as its surrogate would have made it. Path, controlled values and
// those that were given are the run's; whatever nobody controls (choices, observations that nobody
// gave, components that were not measured, learned tags) is drawn from the surrogate along the
// path.
#pragma once

#include <memory>
#include <optional>

#include "psn/core/observations.h"
#include "psn/core/trace.h"
#include "psn/nn/run/executor.h"

namespace psn {

class Alongside {
 public:
  // Of the traces that a surrogate makes with these observations and held values (may be null), as
  // in RunOptions; they must outlive it.
  Alongside(std::shared_ptr<const CompiledNetwork> network, const Observations* observations,
            const Observations* held)
      : network_(std::move(network)), observations_(observations), held_(held) {}

  // With the densities under the surrogate, also of the transitions (Eq. 9). nullopt: it rules the
  // run out. Thread-safe.
  std::optional<Trace> operator()(const Trace& run, Rng& rng) const;

 private:
  std::shared_ptr<const CompiledNetwork> network_;
  const Observations *observations_, *held_;
};

}  // namespace psn
