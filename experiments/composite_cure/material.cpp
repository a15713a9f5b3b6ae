#include "experiments/composite_cure/material.h"

#include <cmath>
#include <numbers>

namespace psn::composite_cure {

Linear Laminate::heat_capacity() const {
  const double resin = (1 - fibre_volume) * resin_density / density();
  const auto mix = [&](double f, double r) { return (1 - resin) * f + resin * r; };
  return {mix(fibre_heat_capacity.at_zero, resin_heat_capacity.at_zero),
          mix(fibre_heat_capacity.by_temperature, resin_heat_capacity.by_temperature)};
}

double springer_tsai(double resin, double fibre, double fibre_volume) {
  const double b = 2 * (resin / fibre - 1);
  const double w = std::sqrt(fibre_volume / std::numbers::pi);
  const double u = std::sqrt(1 - b * b * w * w);
  return resin * ((1 - 2 * w) + (std::numbers::pi - 4 / u * std::atan(u / (1 + b * w))) / b);
}

// Chebyshev interpolation, then the series written out in powers.
TransverseConductivity::TransverseConductivity(const Laminate& laminate)
    : resin_(laminate.resin_conductivity) {
  constexpr auto kCount = static_cast<double>(kTerms);
  std::array<double, kTerms> before{}, current{1};  // T_{k-1}, T_k
  for (std::size_t k = 0; k < kTerms; ++k) {
    double c = 0;
    for (std::size_t j = 0; j < kTerms; ++j) {
      const double angle = std::numbers::pi * (static_cast<double>(j) + 0.5) / kCount;
      c += 2 / kCount * std::cos(static_cast<double>(k) * angle) *
           springer_tsai(kMiddle + kHalfWidth * std::cos(angle), laminate.fibre_conductivity,
                         laminate.fibre_volume);
    }
    if (k == 0) c /= 2;
    std::array<double, kTerms> next{};  // T_{k+1} = 2 x T_k - T_{k-1}; T_1 = x
    for (std::size_t i = 0; i < kTerms; ++i) {
      coefficients_[i] += c * current[i];
      next[i] = (i ? (k ? 2 : 1) * current[i - 1] : 0) - before[i];
    }
    before = current;
    current = next;
  }
}

}  // namespace psn::composite_cure
