// How much of everything the experiment takes, and how its networks are trained.
#pragma once

#include <vector>

#include "experiments/common/experiment.h"
#include "psn/train/trainer.h"

namespace psn::composite_cure {

struct Plan {
  std::uint64_t stored = 200'000;    // traces in the store, a twentieth of them held out
  std::uint64_t validation = 7'680;  // of those held out
  Preset surrogate, inference;
  Preset smallest;                 // a surrogate as small as is accurate to about .1 C
  std::uint64_t samples = 15'000;  // of each engine for Table 1
  std::uint64_t prior = 150'000;   // of the prior proposal, to judge by
  std::uint64_t compared = 2'000;  // held-out traces for the field's error
  // Tuning on the cross-section: the sizes of its training sets, and how many traces each training
  // sees.
  std::vector<std::uint64_t> tuned_on{100, 300, 1'000, 3'000};
  std::uint64_t tuning_seen = 100'000;
};

Plan plan(const ExperimentRequest& request);

}  // namespace psn::composite_cure
