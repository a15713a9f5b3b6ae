// Between events the process is two: the base rate, and what is left of the excitement, whose time
// to the next event is drawn by inversion. Windows end at a state of one number.
#include <cmath>

#include "experiments/zoo/references/kept.h"
#include "experiments/zoo/references/references.h"
#include "experiments/zoo/tools/chain.h"
#include "experiments/zoo/tools/particles.h"
#include "psn/core/distribution.h"

namespace psn::zoo::references {
namespace {

constexpr Kept kSelfExciting[] = {
#include "experiments/zoo/references/kept/self_exciting.inc"
};

constexpr double kHalfLifeRate = 2, kSpan = 2;

// Events in a window; the excitement goes on.
double events_in_window(double& excitement, double base, double offspring, Rng& rng) {
  double left = kSpan, events = 0;
  for (;;) {
    double wait = rng.exponential() / base;
    // The excitement is spent, in all, by excitement / rate events: perhaps there is none.
    const double spent = kHalfLifeRate * rng.exponential() / excitement;
    if (spent < 1) wait = std::min(wait, -std::log1p(-spent) / kHalfLifeRate);
    const double passed = std::min(wait, left);
    excitement *= std::exp(-kHalfLifeRate * passed);
    left -= passed;
    if (left <= 0) return events;
    excitement += offspring * kHalfLifeRate;
    ++events;
  }
}

}  // namespace

double self_exciting_likelihood(Data counts, double base, double offspring, std::size_t particles,
                                Rng& rng) {
  return particle_log_likelihood(
      0.0, particles, counts.size(),
      [&](double& excitement, std::size_t t, Rng& random) {
        const double events = events_in_window(excitement, base, offspring, random);
        return family::Poisson::log_prob({0.1 + events}, counts[t]);
      },
      rng);
}

Answer self_exciting() {
  return answer_of(kSelfExciting);
}

Answer self_exciting_long_run(Data counts) {
  const auto log_density = [&](std::span<const double> p, Rng& rng) {
    if (!(p[0] > 0 && p[1] > 0 && p[1] < 1)) return -kInfinity;
    return family::LogNormal::log_prob({0, 0.5}, p[0]) + family::Beta::log_prob({2, 3}, p[1]) +
           self_exciting_likelihood(counts, p[0], p[1], 200, rng);
  };
  return moments_of(
      random_walk(log_density,
                  {.start = {1, 0.5}, .step = {0.3, 0.2}, .warm_up = 8'000, .rows = 100'000}),
      2);
}

}  // namespace psn::zoo::references
