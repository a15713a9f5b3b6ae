// How far a surrogate's temperatures are from the simulator's: the means of latent_temps for the
// same cycle, configuration and air.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "psn/core/trace.h"
#include "psn/nn/run/executor.h"

namespace psn::composite_cure {

struct FieldError {
  std::vector<double> squared;  // expected squared difference, by time and depth; C^2
  double rms = 0;               // over all
  double largest = 0;           // root of the largest of `squared`
  double sensor_rms = 0;        // of temps_bottom
  struct Sample {
    std::vector<double> simulator, surrogate;
  };
  std::vector<Sample> samples;  // of the first traces
};

// The traces must have their distributions.
FieldError field_error(std::shared_ptr<const CompiledNetwork> network,
                       std::span<const Trace> traces);

}  // namespace psn::composite_cure
