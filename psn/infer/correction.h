// From a surrogate's posterior to the simulator's: draws of the former are run again in the
// simulator and weighted by what the simulator thinks of them.
//
// A surrogate's trace consists of controlled values c, values u that nobody controls, the
// observations y, and the path a (the addresses in order), and was drawn in proportion to
//   s(c) s(y) s(u) s(a)      (each factor conditional on what came before it).
// The simulator runs on c, draws u' of its own, and takes the path a' that follows from c and u'.
// The pair (trace, run) is weighted as a draw of the simulator's posterior p(c) p(y) p(u') extended
// by [a = a'] s(u), which is a density in (a, u): along a fixed path the s(u) are conditional
// densities. What is left of the ratio is
//   w = [a = a'] p(c) p(y) / (s(c) s(y) s(a)),
// so the weighted runs follow the simulator's posterior exactly, whatever the surrogate is, as long
// as it rules out nothing that is possible.
#pragma once

#include <cstdint>

#include "psn/infer/engines.h"

namespace psn {

struct Correction {
  Posterior posterior;  // of the simulator; its queries are computed from the runs
  // Of the posterior, with all runs that repeat one sample of the surrogate's counted as one.
  double effective_sample_size = 0;
  std::uint64_t diverged = 0;  // runs that took another path, and so have weight zero
};

// `surrogate`: weighted samples with whole traces (EngineOptions::keep_traces), whose addresses
// belong to the surrogate and which know the probabilities of its transitions (Trace::transitions:
// not one that falls back to its simulator). options.samples is the number of simulator runs; those
// that fail are left out. Throws ModelError if no run has a weight.
Correction correct_to_simulator(Simulator& simulator, const Observations& observations,
                                const Posterior& surrogate, const EngineOptions& options);

}  // namespace psn
