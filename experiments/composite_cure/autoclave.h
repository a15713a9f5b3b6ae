// The part on its tool and the air around it, as both the through-thickness (1D) and the
// cross-section (2D) simulator see them. Metres, seconds, C.
#pragma once

#include <vector>

#include "experiments/composite_cure/material.h"

namespace psn::composite_cure {

struct Part {
  double tool = 10e-3, laminate = 33e-3;  // thickness
  double h_bottom = 70, h_top = 100;      // heat transfer to the air, W/m2K; the bag included
  double start = 20;                      // temperature of all of it
};

struct Materials {
  Metal tool = kInvar;
  Laminate laminate;
};

// How finely space and time are divided. The number of elements does not follow the thickness, so
// that the result is a smooth function of it.
struct Resolution {
  unsigned tool = 10, laminate = 33;  // elements: 1 mm for the nominal part
  double step = 10;
};

inline constexpr double kMinute = 60;
inline constexpr double kDuration = 300 * kMinute;
inline constexpr double kSampling = 5 * kMinute;  // of air temperatures and results
inline constexpr std::size_t kSamples = 61;

// The autoclave's programme, in C and minutes: two ramps with holds, then cooling.
struct Cycle {
  double start = 20, ramp1 = 2, hold1 = 110, time1 = 60, ramp2 = 2, hold2 = 180;

  double operator()(double minutes) const;
  // At the sampling times.
  std::vector<double> sampled() const;
};

// Air temperatures at the sampling times, linear in between.
struct Air {
  std::vector<double> bottom, top;

  static double at(const std::vector<double>& samples, double time);
};

}  // namespace psn::composite_cure
