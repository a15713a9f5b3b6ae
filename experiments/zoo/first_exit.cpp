// The first exit of a random walk with unknown drift: how long it took, by a clock that is a tenth
// wrong, and where it went out.
#include <cmath>

#include "experiments/zoo/references/references.h"
#include "experiments/zoo/zoo.h"

namespace psn::zoo {
namespace {

// psn simulate zoo-first-exit --seed 1 --given drift=0.2
constexpr double kExitDuration = 22.869, kExitPlace = 9.513;

void first_exit_program(Context& ctx) {
  constexpr double kEnd = 8;
  const double drift = ctx.sample(Normal(0, 0.3), {.name = "drift"});
  double position = 0;
  std::int64_t steps = 0;
  while (std::abs(position) < kEnd) {
    position += ctx.sample(Normal(drift, 1), {.name = "step", .index = steps});
    ++steps;
  }
  const auto duration = static_cast<double>(steps);
  ctx.observe(LogNormal(std::log(duration), 0.1), {.name = "duration"});
  ctx.observe(Normal(position, 1), {.name = "place"});
  ctx.tag(duration, {.name = "steps"});
}

}  // namespace

Program first_exit() {
  return {.model = {"zoo-first-exit", first_exit_program, "a random walk until it leaves a strip"},
          .observed = {{"duration", Value(kExitDuration)}, {"place", Value(kExitPlace)}},
          .judged = {{"drift"}, {"steps"}},
          .source = "quadrature over the drift, and over positions step by step",
          .answer = [] { return references::first_exit(kExitDuration, kExitPlace); },
          .draw =
              [](std::size_t rows, std::uint64_t seed) {
                return references::draw_first_exit(kExitDuration, kExitPlace, rows, seed);
              }};
}

}  // namespace psn::zoo
