// A self-exciting point process by thinning: every event makes more of them likely for a while.
// Candidates come at a rate that is an upper bound, and are kept with the right probability. A
// detector counts, not without error, in ten windows.
#include <cmath>

#include "experiments/zoo/references/references.h"
#include "experiments/zoo/zoo.h"

namespace psn::zoo {
namespace {

// psn simulate zoo-self-exciting --seed 1 --given base=0.8 offspring=0.6
const std::vector<double> kDetected = {3, 3, 2, 11, 15, 7, 1, 3, 2, 5};

void self_exciting_program(Context& ctx) {
  constexpr std::int64_t kWindows = 10;
  constexpr double kWindow = 2, kDecay = 2;
  const double base = ctx.sample(LogNormal(0, 0.5), {.name = "base"});
  const double offspring = ctx.sample(Beta(2, 3), {.name = "offspring"});  // mean of each event
  double time = 0, excitement = 0, count = 0;
  std::int64_t window = 0;
  for (std::int64_t i = 0;; ++i) {
    const double bound = base + excitement;
    const double wait = ctx.sample(Exponential(bound), {.name = "wait", .index = i});
    time += wait;
    for (; window < kWindows && static_cast<double>(window + 1) * kWindow <= time; ++window) {
      ctx.observe(Poisson(0.1 + count), {.name = "count", .index = window});
      count = 0;
    }
    if (window == kWindows) return;
    excitement *= std::exp(-kDecay * wait);
    const double chance = (base + excitement) / bound;
    if (ctx.sample(Bernoulli(chance), {.name = "kept", .index = i}) == 1) {
      excitement += offspring * kDecay;
      ++count;
    }
  }
}

}  // namespace

Program self_exciting() {
  return {.model = {"zoo-self-exciting", self_exciting_program,
                    "a self-exciting point process by thinning"},
          .observed = {{"count", kDetected}},
          .judged = {{"base"}, {"offspring"}},
          .source =
              "a Markov chain over both parameters on a particle filter's likelihood, events "
              "by inversion",
          .answer = references::self_exciting,
          .long_run = [] { return references::self_exciting_long_run(kDetected); }};
}

}  // namespace psn::zoo
