// Several numbers against each other, two at a time: the lower half of a square of heat maps.
#pragma once

#include <string>
#include <vector>

#include "psn/report/binning.h"
#include "psn/report/report.h"

namespace psn {

struct PairVariable {
  std::string name;
  std::vector<double> values;  // of every sample
};

// A few other samples, drawn as points over the maps where they lie within them.
struct PairPoints {
  std::string name;                         // "prior"
  std::vector<std::vector<double>> values;  // of each variable, sample by sample
};

// At least two variables; weights as in Weighted.
Figure pair_figure(const std::vector<PairVariable>& variables, const std::vector<double>& weights,
                   const std::vector<PairPoints>& others = {});

}  // namespace psn
