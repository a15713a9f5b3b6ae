// Air, materials and fields that tests of the cure's simulators share.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "experiments/composite_cure/autoclave.h"
#include "experiments/composite_cure/composite_cure.h"

namespace psn::composite_cure {

inline Air nominal_air() {
  const auto samples = Cycle{}.sampled();
  return {samples, samples};
}

inline Air constant_air(double temperature) {
  const std::vector<double> samples(kSamples, temperature);
  return {samples, samples};
}

// Properties that do not change; density and heat of cure stay.
inline Laminate constant_laminate() {
  Laminate laminate;
  laminate.fibre_heat_capacity = laminate.resin_heat_capacity = {1050.66};
  laminate.resin_conductivity = {0.212};
  return laminate;
}

inline Materials inert(double conductivity) {
  Materials materials{{1, 1, conductivity}, constant_laminate()};
  materials.laminate.kinetics.A = 0;
  return materials;
}

inline std::vector<double> depths() {
  std::vector<double> result;
  for (std::size_t k = 0; k < kDepths; ++k) {
    result.push_back(kDepthSpacing * static_cast<double>(k));
  }
  return result;
}

inline double worst_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::abs(a[i] - b[i]));
  return worst;
}

}  // namespace psn::composite_cure
