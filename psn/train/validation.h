// Validation: how good a network is on traces that it was not trained on.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "psn/core/trace.h"
#include "psn/nn/network.h"
#include "psn/nn/run/course.h"

namespace psn {

struct Validation {
  std::uint64_t traces = 0;
  std::uint64_t unseen = 0;   // traces with an address or transition that training never met
  double loss = 0;            // -log s, or -log q of an inference network; nats per trace
  double kl = 0;              // of a surrogate: nats per trace, from the simulator
  double standard_error = 0;  // of the KL; of the loss for an inference network
  double prior_loss = 0;      // of an inference network: what the model's own distributions reach
  // Of an inference network, at the end of its training: what linear regressions in its place reach
  // (linear_baseline.h).
  std::optional<double> linear_loss;
  // Of an inference network: what one run in a thousand, or none, has as the remoteness of its
  // observations; 0: not known.
  double remote_observation = 0;
  std::optional<Course> course;  // of an inference network: the choices of its program
};

// Does an inference network propose as if there were no observations, to a fiftieth of a nat?
bool learned_nothing(const Validation& validation);

// Does it propose worse than linear regressions would, beyond chance and a twentieth of a nat?
bool below_linear(const Validation& validation);

// Loss and KL from the simulator over held-out traces. What the network does not know is added to a
// copy of it, as Theorem 2 has it, so the result is finite.
// `memory_mb` bounds what it takes, as for training.
Validation validate(const Network& network, const std::vector<Trace>& traces,
                    std::size_t memory_mb = 1000);

}  // namespace psn
