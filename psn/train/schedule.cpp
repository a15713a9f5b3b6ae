#include "psn/train/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace psn {

bool Plateau::add(const Validation& validation, const RateOptions& options) {
  if (!best || validation.loss < best->loss) {
    best = validation;
    stale = 0;
    return true;
  }
  if (++stale % options.plateau_patience == 0) ++reductions;
  return false;
}

double rate_at(const RateOptions& options, double done, const Plateau& plateau) {
  switch (options.schedule) {
    case Schedule::kConstant:
      return options.learning_rate;
    case Schedule::kPlateau:
      return options.learning_rate *
             std::max(options.final_rate,
                      std::pow(options.plateau_factor, static_cast<double>(plateau.reductions)));
    case Schedule::kCosine:
      break;
  }
  const double cosine = 0.5 * (1 + std::cos(std::numbers::pi * std::min(1.0, done)));
  return options.learning_rate * (options.final_rate + (1 - options.final_rate) * cosine);
}

}  // namespace psn
