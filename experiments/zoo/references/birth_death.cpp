// The forward recursion over the number alive. A unit of time is the exponential of the generator,
// by uniformization: a Poisson number of steps of a Markov chain.
#include <cmath>

#include "experiments/zoo/references/references.h"
#include "experiments/zoo/tools/weighted_points.h"
#include "psn/core/distribution.h"

namespace psn::zoo::references {
namespace {

constexpr std::size_t kAlive = 120;  // far above what the counts allow

using Alive = std::vector<double>;  // probabilities of 0..kAlive

Alive jump(const Alive& p, double up, double down) {
  Alive next(p.size());
  for (std::size_t n = 0; n < p.size(); ++n) {
    const auto size = static_cast<double>(n);
    next[n] += p[n] * (1 - size * (up + down));
    if (n > 0) next[n - 1] += p[n] * size * down;
    if (n + 1 < p.size()) next[n + 1] += p[n] * size * up;
  }
  return next;
}

Alive after_a_unit(Alive p, double birth, double death) {
  const double clock = static_cast<double>(kAlive) * (birth + death);
  Alive result(p.size());
  const double most = clock + 9 * std::sqrt(clock) + 20;
  for (double jumps = 0; jumps < most; ++jumps) {
    const double weight = std::exp(family::Poisson::log_prob({clock}, jumps));
    for (std::size_t n = 0; n < p.size(); ++n) result[n] += weight * p[n];
    p = jump(p, birth / clock, death / clock);
  }
  return result;
}

double birth_death_likelihood(Data counts, double birth, double death) {
  Alive p(kAlive + 1);
  p[20] = 1;
  double log_likelihood = 0;
  for (const double count : counts) {
    p = after_a_unit(std::move(p), birth, death);
    double sum = 0;
    for (std::size_t n = 0; n < p.size(); ++n) {
      p[n] *= std::exp(family::Poisson::log_prob({0.1 + static_cast<double>(n)}, count));
      sum += p[n];
    }
    for (double& x : p) x /= sum;
    log_likelihood += std::log(sum);
  }
  return log_likelihood;
}

Grid birth_death_posterior(Data counts, std::size_t cells) {
  return {{{0.2, 1.3, cells}, {0.2, 1.3, cells}}, [&](std::span<const double> rates) {
            return family::LogNormal::log_prob({std::log(0.6), 0.2}, rates[0]) +
                   family::LogNormal::log_prob({std::log(0.6), 0.2}, rates[1]) +
                   birth_death_likelihood(counts, rates[0], rates[1]);
          }};
}

}  // namespace

Answer birth_death(Data counts) {
  return birth_death_posterior(counts, 24).answer();
}

std::vector<double> draw_birth_death(Data counts, std::size_t rows, std::uint64_t seed) {
  Rng rng(seed);
  return birth_death_posterior(counts, 44).draw(rows, rng);
}

}  // namespace psn::zoo::references
