// The plan of a tally, fitted to the first traces of a training: what is counted, its scales, and
// the thresholds by which the program seems to decide where to go next.
//
// No inputs at all unless some site comes up again and again: a core remembers a few visits by
// itself, and inputs cost time. Depends on the sample alone. At most kMostTallyInputs, those of the
// sites with most visits first.
#pragma once

#include <vector>

#include "psn/nn/tally/sample.h"

namespace psn {

inline constexpr std::size_t kMostTallyInputs = 128;
TallyPlan fit_tally(const TallySample& sample);

}  // namespace psn
