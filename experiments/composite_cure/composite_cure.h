// The paper's third experiment: curing of a composite part. The simulator is a finite-element one
// of its own (slab.h, in 2D section.h), with published physics; the program around it is the
// paper's: the thermal history of a part of uncertain thickness and heat transfer is inferred from
// the temperature at the bottom of its tool.
//
//   temps_config  observed  [T0, r1, T1, t1, r2, T2] of the autoclave's cycle
//   config        latent    standard normal: thickness of tool and laminate, h_bottom, h_top
//   air_temp_top, air_temp_bot  observed  every five minutes
//   latent_temps  latent, not controlled: temperatures, 60 times x 20 depths
//   temps_bottom  observed  at the bottom of the tool, every five minutes
#pragma once

#include <array>
#include <span>

#include "experiments/composite_cure/autoclave.h"
#include "psn/core/model.h"
#include "psn/core/observations.h"

namespace psn::composite_cure {

inline constexpr std::size_t kDepths = 20;
inline constexpr double kDepthSpacing = 2e-3;        // m, from the bottom of the tool
inline constexpr std::size_t kTimes = kSamples - 1;  // of latent_temps: from the second sample
inline constexpr double kLatentNoise = 0.25, kSensorNoise = 0.5, kAirNoise = 1.0;

// From the program's variables to the simulator's.
Cycle cycle_of(std::span<const double> temps_config);
Part part_of(std::span<const double> config, const Cycle& cycle);

// Around the through-thickness simulator, and around the cross-section, of which the program sees
// the middle; each at its default resolution.
Model model();
Model model_2d();

// What the experiment asks for: the mean of latent_temps 30 mm above the bottom at 155, 160 and 165
// minutes, when the laminate is hottest.
double hottest(const Value& latent_temps);

// Observations of a part whose cycle and configuration lie `shift` standard deviations off the
// nominal, all of them. The noise is always the same.
Observations observed_part(int shift);

}  // namespace psn::composite_cure
