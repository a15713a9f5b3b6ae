// Points come one after the other to a table in proportion to those who sit there, or to a new one:
// the partition has that law if sticks are integrated out. All partitions are enumerated.
#include <algorithm>
#include <cmath>

#include "experiments/zoo/references/references.h"
#include "experiments/zoo/tools/weighted_points.h"
#include "psn/core/distribution.h"

namespace psn::zoo::references {
namespace {

struct Table {
  double size = 0, mean = 0, variance = 9;  // of its level

  // Takes a point; returns its log density given those before it.
  double take(double y) {
    constexpr double kNoise = 0.8 * 0.8;
    const double total = variance + kNoise;
    const double density = family::Normal::log_prob({mean, std::sqrt(total)}, y);
    mean += variance / total * (y - mean);
    variance *= kNoise / total;
    ++size;
    return density;
  }
};

struct Seating {
  std::vector<Table> tables;
  bool together = false;  // the first two
  double log_density = 0;
};

// Seats the next point at each table in turn, and at a new one.
void seat_all(Data y, std::size_t next, const Seating& seating, WeightedPoints& posterior) {
  if (next == y.size()) {
    const Table& first = seating.tables[0];
    const double mean[] = {static_cast<double>(seating.tables.size()), seating.together ? 1.0 : 0.0,
                           first.mean};
    const double variance[] = {0, 0, first.variance};
    posterior.add(seating.log_density, mean, variance);
    return;
  }
  for (std::size_t k = 0; k <= seating.tables.size(); ++k) {
    Seating after = seating;
    if (k == seating.tables.size()) after.tables.push_back({});
    if (next == 1) after.together = k == 0;
    const double share = std::max(1.0, after.tables[k].size) / (static_cast<double>(next) + 1);
    after.log_density += std::log(share) + after.tables[k].take(y[next]);
    seat_all(y, next + 1, after, posterior);
  }
}

}  // namespace

Answer stick_breaking(Data y) {
  WeightedPoints posterior;
  Seating nobody;
  nobody.log_density = family::Poisson::log_prob({8}, static_cast<double>(y.size()));
  seat_all(y, 0, nobody, posterior);
  return posterior.answer();
}

}  // namespace psn::zoo::references
