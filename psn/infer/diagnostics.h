// How far a set of samples can be trusted.
#pragma once

#include <cstddef>
#include <span>

#include "psn/core/posterior.h"

namespace psn {

// Chains of equal length, one after the other in `values`.
struct Chains {
  std::span<const double> values;
  std::size_t count = 1;
};

// Effective number of independent draws: Geyer's initial monotone sequence over the autocorrelation
// of all chains together (Vehtari et al. 2021, Eq. 10). NaN for constant or too short chains.
double chain_effective_sample_size(const Chains& chains);

// Gelman and Rubin's potential scale reduction over the halves of each chain; near 1 when they
// agree, +inf if each is stuck at a place of its own. NaN for one constant or too short chains.
double split_rhat(const Chains& chains);

// Pareto-smoothed importance sampling (Vehtari et al. 2024): the shape of the generalised Pareto
// distribution fitted to the largest weights.
struct ParetoDiagnostic {
  double khat;       // the estimate is unreliable if it exceeds...
  double threshold;  // min(1 - 1 / log10(S), 0.7) for S samples
};
// khat is NaN if there are too few samples to fit, -inf if the largest weights are equal, +inf if a
// few weights are so large that nothing else counts.
ParetoDiagnostic pareto_khat(std::span<const double> log_weights);

// The effective sample size of one component, by weights or along chains, whichever the posterior
// is made of. Along chains, of the samples in which it occurs, as they come.
double effective_sample_size(const Posterior& posterior, std::string_view name,
                             std::size_t component = 0);

}  // namespace psn
