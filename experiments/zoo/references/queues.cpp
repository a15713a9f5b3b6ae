// Without events: a customer is served after arriving and after the one before, at each desk.
#include <algorithm>
#include <cmath>

#include "experiments/zoo/references/kept.h"
#include "experiments/zoo/references/references.h"
#include "experiments/zoo/tools/chain.h"
#include "experiments/zoo/tools/particles.h"
#include "psn/core/distribution.h"

namespace psn::zoo::references {
namespace {

constexpr Kept kQueues[] = {
#include "experiments/zoo/references/kept/queues.inc"
};

struct LastCustomer {
  double came = 0, left_a = 0, left_b = 0;
};

}  // namespace

double queues_likelihood(Data departures, std::span<const double> rates, std::size_t particles,
                         Rng& rng) {
  return particle_log_likelihood(
      LastCustomer{}, particles, departures.size(),
      [&](LastCustomer& last, std::size_t i, Rng& random) {
        last.came += random.exponential() / rates[0];
        last.left_a = std::max(last.came, last.left_a) + random.exponential() / rates[1];
        last.left_b = std::max(last.left_a, last.left_b) + random.exponential() / rates[2];
        return family::Normal::log_prob({last.left_b, 0.3}, departures[i]);
      },
      rng);
}

Answer queues() {
  return answer_of(kQueues);
}

Answer queues_long_run(Data departures) {
  const double centre[] = {0, std::log(1.5), std::log(1.5)};
  const auto log_density = [&](std::span<const double> p, Rng& rng) {
    double prior = 0, rates[3];
    for (std::size_t k = 0; k < 3; ++k) {
      prior += family::Normal::log_prob({centre[k], 0.4}, p[k]);
      rates[k] = std::exp(p[k]);
    }
    return prior + queues_likelihood(departures, rates, 300, rng);
  };
  auto rows = random_walk(log_density, {.start = {centre[0], centre[1], centre[2]},
                                        .step = {0.2, 0.2, 0.2},
                                        .warm_up = 8'000,
                                        .rows = 60'000});
  for (double& x : rows) x = std::exp(x);
  return moments_of(rows, 3);
}

}  // namespace psn::zoo::references
