// A linear-Gaussian state space: something that turns and drifts in the plane, of which one
// coordinate is seen with noise, for a hundred steps.
#include <cmath>

#include "experiments/zoo/references/references.h"
#include "experiments/zoo/zoo.h"

namespace psn::zoo {
namespace {

// psn simulate zoo-tracking --seed 1
const std::vector<double> kTrack = {
    0.79,  -0.32, -1.52, -0.07, 0.14,  -3.07, -0.81, -0.24, -0.65, 0.16,  -0.07, 0.45,  0.41,
    -0.01, 1.50,  -0.29, 0.87,  0.33,  0.50,  -0.82, -0.52, -1.03, -0.53, -0.71, 0.58,  -2.10,
    -1.30, -2.24, -0.04, -2.62, -1.42, -0.90, -3.17, -0.24, 0.42,  -0.47, -0.89, -0.05, 0.61,
    3.08,  -0.19, 2.19,  1.44,  1.42,  1.01,  0.61,  -0.99, -0.19, -0.81, -0.67, -0.63, -2.14,
    0.35,  -1.76, -1.49, -2.07, -1.32, 1.42,  0.82,  0.04,  2.16,  1.89,  2.00,  2.02,  0.93,
    1.19,  2.51,  -0.03, -0.74, -0.49, 0.23,  1.13,  -1.82, -1.58, -2.01, -1.23, -0.71, -2.18,
    -1.72, -1.99, -2.15, -1.69, -2.22, 0.11,  0.66,  -0.48, 0.60,  1.18,  1.23,  -0.28, 0.58,
    0.92,  1.45,  -0.38, -0.33, 0.77,  -0.36, -1.75, -0.90, 0.63};

void tracking_program(Context& ctx) {
  constexpr std::int64_t kSteps = 100;
  constexpr double kTurn = 0.3, kFriction = 0.95;
  Value state = ctx.sample(Normal(Value{0, 0}, 1), {.name = "state", .index = 0});
  for (std::int64_t t = 0;; ++t) {
    ctx.observe(Normal(state[0], 0.8), {.name = "seen", .index = t});
    if (t + 1 == kSteps) return;
    const double x = kFriction * (std::cos(kTurn) * state[0] - std::sin(kTurn) * state[1]);
    const double y = kFriction * (std::sin(kTurn) * state[0] + std::cos(kTurn) * state[1]);
    state = ctx.sample(Normal(Value{x, y}, 0.3), {.name = "state", .index = t + 1});
  }
}

}  // namespace

Program tracking() {
  return {.model = {"zoo-tracking", tracking_program, "a linear-Gaussian state space, 100 steps"},
          .observed = {{"seen", kTrack}},
          .judged = {{"state_0", {2}}, {"state_50", {2}}, {"state_99", {2}}},
          .source = "a Kalman filter and smoother",
          .answer = [] {
            return references::tracking(kTrack, {0, 50, 99});
          }};
}

}  // namespace psn::zoo
