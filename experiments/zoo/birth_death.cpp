// A birth and death process with unknown rates, event by event; counts are seen at fixed times.
#include <cmath>

#include "experiments/zoo/references/references.h"
#include "experiments/zoo/zoo.h"

namespace psn::zoo {
namespace {

// psn simulate zoo-birth-death --seed 1 --given birth=0.7 death=0.5
const std::vector<double> kBirthDeathCounts = {15, 15, 30, 26, 39};

void birth_death_program(Context& ctx) {
  constexpr std::int64_t kCounts = 5;
  const double birth = ctx.sample(LogNormal(std::log(0.6), 0.2), {.name = "birth"});
  const double death = ctx.sample(LogNormal(std::log(0.6), 0.2), {.name = "death"});
  double time = 0;
  std::int64_t alive = 20, counted = 0;
  for (std::int64_t i = 0;; ++i) {
    const double rate = static_cast<double>(alive) * (birth + death);
    // Nothing happens any more if all are dead.
    time += alive > 0 ? ctx.sample(Exponential(rate), {.name = "wait", .index = i}).scalar()
                      : static_cast<double>(kCounts);
    for (; counted < kCounts && static_cast<double>(counted + 1) <= time; ++counted) {
      ctx.observe(Poisson(0.1 + static_cast<double>(alive)), {.name = "count", .index = counted});
    }
    if (counted == kCounts) return;
    const Value born = ctx.sample(Bernoulli(birth / (birth + death)), {.name = "born", .index = i});
    alive += born == 1 ? 1 : -1;
  }
}

}  // namespace

Program birth_death() {
  return {
      .model = {"zoo-birth-death", birth_death_program,
                "births and deaths one by one, counted at five times"},
      .observed = {{"count", kBirthDeathCounts}},
      .judged = {{"birth"}, {"death"}},
      .source = "quadrature over both rates; exponentials of the generator, cut off at 120 alive",
      .answer = [] { return references::birth_death(kBirthDeathCounts); },
      .draw =
          [](std::size_t rows, std::uint64_t seed) {
            return references::draw_birth_death(kBirthDeathCounts, rows, seed);
          }};
}

}  // namespace psn::zoo
