// A series whose level jumps now and then: nobody knows how often, or when.
#include <algorithm>

#include "experiments/zoo/references/references.h"
#include "experiments/zoo/zoo.h"

namespace psn::zoo {
namespace {

// psn simulate zoo-change-points --seed 1
const std::vector<double> kSeries = {
    0.604,  0.281,  0.231,  0.984,  -1.013, 0.305,  -0.905, 0.966,  0.046,  -1.355,
    1.291,  -1.552, 0.553,  -2.325, 0.864,  0.804,  -0.071, 1.436,  0.235,  -0.107,
    -0.841, 1.839,  -0.498, 2.04,   -2.45,  -0.868, -3.187, -1.968, -3.573, -2.591,
    -2.195, -1.948, -2.69,  -3.539, -1.999, -2.638, -1.652, 0.307,  -0.369, -1.694,
    -0.086, 0.117,  -0.154, -1.014, -0.248, -1.945, -0.798, -1.538, 0.437,  -2.041};

void change_points_program(Context& ctx) {
  constexpr std::int64_t kLength = 50, kMiddle = 25;
  std::int64_t t = 0, segment = 0;
  double level = 0, middle = 0;
  for (; t < kLength; ++segment) {
    level = ctx.sample(Normal(0, 3), {.name = "level", .index = segment});
    const auto more = ctx.sample(Geometric(0.06), {.name = "more", .index = segment}).integer();
    const std::int64_t end = std::min(kLength, t + 1 + more);
    if (t <= kMiddle && kMiddle < end) middle = level;
    for (; t < end; ++t) ctx.observe(Normal(level, 1), {.name = "y", .index = t});
  }
  ctx.tag(static_cast<double>(segment), {.name = "segments"});
  ctx.tag(middle, {.name = "middle"});
  ctx.tag(level, {.name = "last"});
}

}  // namespace

Program change_points() {
  return {.model = {"zoo-change-points", change_points_program,
                    "a series whose level jumps at unknown times"},
          .observed = {{"y", kSeries}},
          .judged = {{"segments"}, {"middle"}, {"last"}},
          .source = "dynamic programming over segments",
          .answer = [] {
            return references::change_points(kSeries, {25, 49});
          }};
}

}  // namespace psn::zoo
