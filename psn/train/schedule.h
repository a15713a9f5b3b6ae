// The learning rate as training goes on: of what has been learned from and what validation said,
// never of time, so that training can be done again, and stopped and resumed.
#pragma once

#include <cstdint>
#include <optional>

#include "psn/train/validation.h"

namespace psn {

enum class Schedule {
  kConstant,
  kCosine,   // from the rate to a small fraction of it, over the whole training
  kPlateau,  // reduced whenever validation no longer improves
};

struct RateOptions {
  double learning_rate = 2e-3;  // at the start
  Schedule schedule = Schedule::kCosine;
  double final_rate = 0.01;  // the smallest, as a fraction
  double plateau_factor = 0.5;
  std::uint64_t plateau_patience = 5;  // validations without a new best before a reduction
};

// Blocks of parameters that learn at another rate than the rest: Adam moves every weight about as
// far, but some layers are changed more by that than others. Of our recipe, not of the paper's.
struct RateRules {
  // The logits after begin are single weights, where others are sums over a hidden layer that moves
  // as one: they learn as many times faster as that layer is wide. Or not.
  bool begin = true;
  // The components of a long vector often rise and fall together, and so the sums of a layer over
  // more inputs than this would jump: it learns that many times slower. 0: none does.
  std::uint64_t wide_inputs = 64;
};

// What validation has said so far.
struct Plateau {
  std::optional<Validation> best;
  std::uint64_t stale = 0;       // validations since then
  std::uint64_t reductions = 0;  // of the rate

  // Takes one more; true if it is the best so far.
  bool add(const Validation& validation, const RateOptions& options);
};

// After a share `done` of the traces.
double rate_at(const RateOptions& options, double done, const Plateau& plateau);

}  // namespace psn
