// The unit that one component's values are measured in, and how an output becomes a parameter: its
// link gives the number, its role the unit. Internal to psn/nn.
#pragma once

#include <algorithm>
#include <cmath>

#include "psn/core/distribution.h"
#include "psn/nn/scaling.h"

namespace psn::heads {

using family::Link;
using family::Parameter;
using family::Role;

// One component's unit: location and scale of its values, and the bounds of its support.
struct Unit {
  double location, scale;
  double low, high;
};

inline Unit unit_of(const Scaling& scaling, std::size_t component) {
  return {scaling.location[component], scaling.scale[component], scaling.low, scaling.high};
}

// The size of positive values: never zero.
inline double size_of(const Unit& unit) {
  return std::max({std::abs(unit.location), unit.scale * 1e-3, 1e-30});
}

inline constexpr double kLargestExponent = 14;  // of scales and rates relative to their unit

// What an output becomes, and its derivative with respect to it.
struct Linked {
  double value, slope;
};

// Bounded.
inline Linked exponential(double o) {
  const double clamped = std::clamp(o, -kLargestExponent, kLargestExponent);
  const double e = std::exp(clamped);
  return {e, clamped == o ? e : 0};
}

inline double sigmoid(double o) {
  return o >= 0 ? 1 / (1 + std::exp(-o)) : std::exp(o) / (1 + std::exp(o));
}

inline Linked linked(Link link, double o) {
  if (link == Link::kPositive) return exponential(o);
  if (link != Link::kProbability) return {o, 1};
  const double p = sigmoid(o);
  return {p, p * (1 - p)};
}

// In the unit of values what is `x` without one.
inline double in_unit(Role role, double x, const Unit& unit) {
  switch (role) {
    case Role::kLocation:
      return unit.location + unit.scale * x;
    case Role::kScale:
      return unit.scale * x;
    case Role::kSize:
      return size_of(unit) * x;
    case Role::kRate:
      return x / size_of(unit);
    case Role::kLow:
      return unit.low;
    case Role::kHigh:
      return unit.high;
    case Role::kShape:
      break;
  }
  return x;
}

// What one row of a head's outputs is.
struct Output {
  Link link;
  Role role;
  std::size_t component;
};

}  // namespace psn::heads
