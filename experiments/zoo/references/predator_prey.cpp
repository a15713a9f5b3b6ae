// Each kind of event has a clock of its own, and the first that rings is what happens.
#include <algorithm>
#include <cmath>

#include "experiments/zoo/references/kept.h"
#include "experiments/zoo/references/references.h"
#include "experiments/zoo/tools/chain.h"
#include "experiments/zoo/tools/particles.h"
#include "psn/core/distribution.h"

namespace psn::zoo::references {
namespace {

constexpr Kept kPredatorPrey[] = {
#include "experiments/zoo/references/kept/predator_prey.inc"
};

struct Populations {
  double prey = 60, predators = 40;
};

void live_a_unit(Populations& now, std::span<const double> rates, Rng& rng) {
  const auto rings = [&](double rate) { return rate > 0 ? rng.exponential() / rate : kInfinity; };
  for (double left = 1;;) {
    const double birth = rings(rates[0] * now.prey * (1 - now.prey / 200));
    const double meal = rings(rates[1] * now.prey * now.predators);
    const double death = rings(rates[2] * now.predators);
    const double first = std::min({birth, meal, death});
    left -= first;
    if (left <= 0) return;
    if (first == birth) ++now.prey;
    if (first == meal) --now.prey, ++now.predators;
    if (first == death) --now.predators;
  }
}

}  // namespace

double predator_prey_likelihood(Data census, std::span<const double> rates, std::size_t particles,
                                Rng& rng) {
  return particle_log_likelihood(
      Populations{}, particles, census.size() / 2,
      [&](Populations& now, std::size_t t, Rng& random) {
        live_a_unit(now, rates, random);
        return family::Normal::log_prob({now.prey, 10}, census[2 * t]) +
               family::Normal::log_prob({now.predators, 10}, census[2 * t + 1]);
      },
      rng);
}

Answer predator_prey() {
  return answer_of(kPredatorPrey);
}

Answer predator_prey_long_run(Data census) {
  const double centre[] = {std::log(0.8), std::log(0.01), std::log(0.5)};
  // Over logarithms; moments are those of the rates.
  const auto log_density = [&](std::span<const double> p, Rng& rng) {
    double prior = 0, rates[3];
    for (std::size_t k = 0; k < 3; ++k) {
      prior += family::Normal::log_prob({centre[k], 0.3}, p[k]);
      rates[k] = std::exp(p[k]);
    }
    return prior + predator_prey_likelihood(census, rates, 120, rng);
  };
  auto rows = random_walk(log_density, {.start = {centre[0], centre[1], centre[2]},
                                        .step = {0.1, 0.1, 0.1},
                                        .warm_up = 2'000,
                                        .rows = 30'000});
  for (double& x : rows) x = std::exp(x);
  return moments_of(rows, 3);
}

}  // namespace psn::zoo::references
