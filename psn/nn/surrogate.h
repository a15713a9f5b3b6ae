// SurrogateSimulator: a trained network in the simulator's place. Its ensembles run W traces in
// lockstep, one batched network step at a time; its traces have the simulator's addresses, names
// and roles, and any engine runs in it (the paper's Section 3.2).
//
// Values are drawn by whoever answers, from the distributions that the network hands out; the
// network itself draws only where to go next, from a stream of its own for each trace. Results
// depend neither on W nor on the number of threads. Transitions are always drawn anew, also when
// Metropolis-Hastings replays a trace: their probabilities cancel in its acceptance ratio.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "psn/base/rng.h"
#include "psn/core/ensemble.h"
#include "psn/nn/executor.h"

namespace psn {

struct SurrogateOptions {
  // What to do about transitions to unknown addresses.
  enum class Unknown {
    kRenormalise,  // never take them: P(c) / (1 - P(unknown)), Eq. 9
    kStop,         // take them as often as the network says, and end with a ModelError
  };
  Unknown unknown = Unknown::kRenormalise;
};

// Thread-safe, as every simulator: ensembles on several threads share the network.
class SurrogateSimulator : public Simulator {
 public:
  // Throws ModelError if a parameter is not finite.
  SurrogateSimulator(std::string name, std::shared_ptr<const Network> network,
                     SurrogateOptions options = {});

  const std::string& name() const override { return name_; }
  AddressTable& addresses() override { return addresses_; }
  std::unique_ptr<Ensemble> ensemble(std::size_t width) override;
  const Network& network() const { return compiled_->network(); }

 private:
  std::string name_;
  std::shared_ptr<const CompiledNetwork> compiled_;
  SurrogateOptions options_;
  AddressTable addresses_;
};

// Draws a row of transition logits: 0 for unknown (never, unless `with_unknown`), else 1 + the
// position among the successors. nullopt: there is nothing to draw from, or a logit is NaN.
std::optional<std::size_t> draw_transition(std::span<const float> logits, bool with_unknown,
                                           Rng& rng);

}  // namespace psn
