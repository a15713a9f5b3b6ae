// A point on a half circle whose place folds the plane, so that the posterior is two crescents (the
// benchmark's Two Moons). There the noise is along the radius only; here it is round, so that the
// observation has a density given the angle.
#include <cmath>

#include "experiments/zoo/references/references.h"
#include "experiments/zoo/zoo.h"

namespace psn::zoo {
namespace {

// Chosen, not drawn: the place where the crescents face each other.
const std::vector<double> kCrescentsPoint = {0, 0};

void crescents_program(Context& ctx) {
  const double theta_0 = ctx.sample(Uniform(-1, 1), {.name = "theta", .index = 0});
  const double theta_1 = ctx.sample(Uniform(-1, 1), {.name = "theta", .index = 1});
  const double angle = ctx.sample(Uniform(-M_PI / 2, M_PI / 2), {.name = "angle"});
  const double x = 0.25 + 0.1 * std::cos(angle) - std::abs(theta_0 + theta_1) * M_SQRT1_2;
  const double y = 0.1 * std::sin(angle) + (theta_1 - theta_0) * M_SQRT1_2;
  ctx.observe(Normal(Value{x, y}, 0.01), {.name = "x"});
}

}  // namespace

Program crescents() {
  return {.model = {"zoo-crescents", crescents_program, "a posterior of two crescents"},
          .observed = {{"x", kCrescentsPoint}},
          .judged = {{"theta_0"}, {"theta_1"}},
          .source = "closed form",
          .answer = [] { return references::crescents(kCrescentsPoint); },
          .draw =
              [](std::size_t rows, std::uint64_t seed) {
                return references::draw_crescents(kCrescentsPoint, rows, seed);
              }};
}

}  // namespace psn::zoo
