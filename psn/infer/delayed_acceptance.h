// Delayed acceptance (Christen and Fox 2005) over traces: k Metropolis-Hastings steps inside a
// surrogate propose, and one run of the simulator on the controlled values of where they lead
// accepts or rejects. The chain's law is the simulator's posterior, whatever the surrogate is.
//
// The kernel inside is one that is reversible for the surrogate's posterior, so k of it are. With
//   w = [same path] p(c) p(y) / (s(c) s(y) s(a))
// (psn/infer/correction.h) the surrogate's posterior times w is the simulator's, extended by a law
// of what the surrogate draws along a run's path: accept with min(1, w' / w). The w of a state that
// stays is never drawn anew, though the run's uncontrolled choices could be: this is what makes it
// exact with them. A share of proposals are whole new runs of the simulator's prior instead,
// accepted by the ratio of likelihoods; they come to, and leave, what the surrogate rules out.
//
// Surrogates nest: such a chain of one surrogate's posterior is the kernel inside the next.
#pragma once

#include <functional>

#include "psn/infer/metropolis.h"

namespace psn {

struct SurrogateLevel {
  Simulator* simulator = nullptr;  // with the simulator's table of addresses
  // A run of the simulator as the surrogate would have made it, what nobody controls drawn by it;
  // nullopt: it rules the run out. Thread-safe. (psn/nn/run/alongside.h)
  std::function<std::optional<Trace>(const Trace& run, Rng& rng)> alongside;
};

// Iterations are those with a run of the simulator; steps are those inside the first surrogate.
struct DelayedOptions : MetropolisOptions {
  std::vector<SurrogateLevel> surrogates;  // one at least, the coarsest first
  // Moves of one level for one of the next; they adapt to the rate of acceptance during burn-in
  // only.
  std::uint64_t most_moves = 200;
  double fresh_share = 0.05;  // of proposals, that are whole new runs
};

struct DelayedResult {
  Posterior posterior;
  double acceptance = 0;
  std::uint64_t iterations = 0;    // of all chains, burn-in included
  std::vector<double> moves;       // for one of the next level: the mean over chains; by level
  std::uint64_t longest_stay = 0;  // iterations in one state
  double khat = 0;                 // of the weights w that were proposed after burn-in
};

// Throws InvalidArgument for surrogates that have another table of addresses than the simulator;
// ModelError if a chain finds no state to start from. Depends on neither width nor threads.
DelayedResult delayed_acceptance(Simulator& simulator, const Observations& observations,
                                 const DelayedOptions& options);

}  // namespace psn
