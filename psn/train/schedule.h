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
