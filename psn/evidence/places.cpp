#include "psn/evidence/places.h"

#include <cmath>

namespace psn::evidence {

double place_among(double x, std::span<const double> draws, Rng& rng) {
  std::size_t smaller = 0, equal = 0;
  for (const double draw : draws) {
    smaller += draw < x ? 1 : 0;
    equal += draw == x ? 1 : 0;
  }
  return (static_cast<double>(smaller) + rng.uniform() * static_cast<double>(equal + 1)) /
         static_cast<double>(draws.size() + 1);
}

double weighted_place(double x, std::span<const double> draws, std::span<const double> weights,
                      Rng& rng) {
  double smaller = 0, equal = 0, total = 0, squares = 0;
  for (std::size_t i = 0; i < draws.size(); ++i) {
    const double w = weights[i];
    if (std::isnan(draws[i])) continue;
    total += w;
    squares += w * w;
    if (draws[i] < x) smaller += w;
    if (draws[i] == x) equal += w;
  }
  const double own = total > 0 ? squares / total : 1;
  return (smaller + rng.uniform() * (equal + own)) / (total + own);
}

}  // namespace psn::evidence
