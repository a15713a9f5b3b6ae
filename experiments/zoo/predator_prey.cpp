// Predators and prey, event by event: a birth of prey, a predator that eats and multiplies, a death
// of a predator. Both are counted with errors at six times.
#include <algorithm>
#include <cmath>

#include "experiments/zoo/references/references.h"
#include "experiments/zoo/zoo.h"

namespace psn::zoo {
namespace {

// psn simulate zoo-predator-prey --seed 1 --given growth=0.8 appetite=0.01 death=0.5
const std::vector<double> kCensus = {84.8, 37.0, 53.3, 79.0, 48.2, 77.7,
                                     69.4, 69.3, 54.4, 61.2, 41.8, 87.1};  // prey, predators, ...

void predator_prey_program(Context& ctx) {
  constexpr std::int64_t kCounts = 6;
  constexpr double kRoom = 200;  // more prey than that finds no food
  const double growth = ctx.sample(LogNormal(std::log(0.8), 0.3), {.name = "growth"});
  const double appetite = ctx.sample(LogNormal(std::log(0.01), 0.3), {.name = "appetite"});
  const double death = ctx.sample(LogNormal(std::log(0.5), 0.3), {.name = "death"});
  double prey = 60, predators = 40, time = 0;
  std::int64_t counted = 0;
  for (std::int64_t i = 0;; ++i) {
    const double births = growth * prey * std::max(0.0, 1 - prey / kRoom);
    const double meals = appetite * prey * predators, deaths = death * predators;
    const double rate = births + meals + deaths;
    // Nothing happens any more if all are dead.
    time += rate > 0 ? ctx.sample(Exponential(rate), {.name = "wait", .index = i}).scalar()
                     : static_cast<double>(kCounts);
    for (; counted < kCounts && static_cast<double>(counted + 1) <= time; ++counted) {
      ctx.observe(Normal(Value{prey, predators}, 10), {.name = "seen", .index = counted});
    }
    if (counted == kCounts) return;
    const Value event =
        ctx.sample(Categorical({births, meals, deaths}), {.name = "event", .index = i});
    prey += event == 0 ? 1 : event == 1 ? -1 : 0;
    predators += event == 1 ? 1 : event == 2 ? -1 : 0;
  }
}

Observations census() {
  Observations observed;
  for (std::size_t t = 0; 2 * t < kCensus.size(); ++t) {
    observed.set("seen_" + std::to_string(t), Value{kCensus[2 * t], kCensus[2 * t + 1]});
  }
  return observed;
}

}  // namespace

Program predator_prey() {
  return {.model = {"zoo-predator-prey", predator_prey_program,
                    "predators and prey, event by event: a thousand choices"},
          .observed = census(),
          .judged = {{"growth"}, {"appetite"}, {"death"}},
          .source = "a Markov chain over three rates on a particle filter's likelihood",
          .answer = references::predator_prey,
          .long_run = [] { return references::predator_prey_long_run(kCensus); }};
}

}  // namespace psn::zoo
