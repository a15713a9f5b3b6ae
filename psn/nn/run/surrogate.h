// SurrogateSimulator: a trained network in the simulator's place. Its ensembles run W traces in
// lockstep, one batched network step at a time; its traces have the simulator's addresses, names
// and roles, and any engine runs in it (the paper's Section 3.2).
//
// Values are drawn by whoever answers, from the distributions that the network hands out; the
// network itself draws only where to go next, from a stream of its own for each trace. Results
// depend neither on W nor on the number of threads. Transitions are always drawn anew, also when
// Metropolis-Hastings replays a trace: their probabilities cancel in its acceptance ratio.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <span>
#include <string>

#include "psn/base/rng.h"
#include "psn/core/ensemble.h"
#include "psn/nn/run/executor.h"

namespace psn {

struct SurrogateOptions {
  // What to do about transitions to unknown addresses.
  enum class Unknown {
    kRenormalise,  // never take them: P(c) / (1 - P(unknown)), Eq. 9
    kStop,         // take them as often as the network says, and end with a ModelError
    kSimulator,    // take them as often as the network says, and go on in the simulator
  };
  Unknown unknown = Unknown::kRenormalise;
  std::shared_ptr<Simulator> simulator;  // the real one, for kSimulator
  // A table to share, which must outlive it, so that an address is the same in several simulators.
  // Null: one of its own, or that of `simulator`.
  AddressTable* addresses = nullptr;
};

// With kSimulator a trace is the surrogate's up to the choice after which the network draws
// `unknown`; from there on (from the start, if it does so at `begin`) the simulator, handed the
// values so far, makes the choices. Each choice has the density under whichever made it. So this is
// one program of its own, a mixture of both, and importance weights and Metropolis-Hastings' ratios
// are exact for that program: evidence before the change counts by the surrogate's density, later
// evidence by the simulator's.
struct Fallbacks {
  std::atomic<std::uint64_t> taken{0};
  // `unknown` was drawn after choices that the simulator cannot make; then another transition was
  // taken, as with kRenormalise.
  std::atomic<std::uint64_t> refused{0};
};

// Thread-safe, as every simulator: ensembles on several threads share the network.
class SurrogateSimulator : public Simulator {
 public:
  // Throws ModelError if a parameter is not finite, InvalidArgument for kSimulator without one.
  SurrogateSimulator(std::string name, std::shared_ptr<const Network> network,
                     SurrogateOptions options = {});

  const std::string& name() const override { return name_; }
  // Shared with the simulator that it falls back to, so that an address is the same in both.
  AddressTable& addresses() override {
    if (options_.simulator) return options_.simulator->addresses();
    return options_.addresses ? *options_.addresses : addresses_;
  }
  std::unique_ptr<Ensemble> ensemble(std::size_t width) override;
  std::size_t max_simulations() const override {
    if (!options_.simulator) return Simulator::max_simulations();
    // Each trace that falls back has an ensemble of its own.
    return std::min(options_.simulator->max_simulations(), options_.simulator->max_threads());
  }
  std::uint64_t runs() const override {
    return options_.simulator ? options_.simulator->runs() : 0;
  }
  Failures failures() const override {
    return options_.simulator ? options_.simulator->failures() : Failures{};
  }
  void forget_failures() override {
    if (options_.simulator) options_.simulator->forget_failures();
  }
  const Network& network() const { return compiled_->network(); }
  const std::shared_ptr<const CompiledNetwork>& compiled() const { return compiled_; }
  const SurrogateOptions& options() const { return options_; }
  // Of all ensembles so far; may be set to zero between runs.
  Fallbacks& fallbacks() { return fallbacks_; }

 private:
  std::string name_;
  std::shared_ptr<const CompiledNetwork> compiled_;
  SurrogateOptions options_;
  AddressTable addresses_;
  Fallbacks fallbacks_;
};

// Draws a row of transition logits: 0 for unknown (never, unless `with_unknown`), else 1 + the
// position among the successors. nullopt: there is nothing to draw from, or a logit is NaN.
struct DrawnTransition {
  std::size_t row;
  double log_prob;  // among the rows that could be drawn
};
std::optional<DrawnTransition> draw_transition(std::span<const float> logits, bool with_unknown,
                                               Rng& rng);

}  // namespace psn
