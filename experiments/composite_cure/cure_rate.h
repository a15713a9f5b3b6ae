// The rate of cure at many points at once, in the widest instructions the machine has: nearly all
// of a simulation's time would go into its exponentials and logarithms.
#pragma once

#include <cstddef>
#include <vector>

#include "experiments/composite_cure/material.h"

namespace psn::composite_cure {

struct CureRates {
  std::vector<double> rate, by_temperature, by_cure;  // da/dt and its derivatives

  void resize(std::size_t n);
};

// Arrays are this much longer than the number of points; what the excess holds must be a state like
// any other.
inline constexpr std::size_t kPadding = 8;
constexpr std::size_t padded(std::size_t n) {
  return (n + kPadding - 1) / kPadding * kPadding;
}

// For padded(n) points: temperature in C, degree of cure within (0, 1).
void cure_rates(const Kinetics& kinetics, std::size_t n, const double* temperature,
                const double* cure, CureRates& rates);

}  // namespace psn::composite_cure
