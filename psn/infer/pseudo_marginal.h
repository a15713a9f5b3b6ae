// Pseudo-marginal chains (Andrieu and Roberts 2009), for programs of which a few latents are asked
// for, the parameters theta, and all others are nuisance: an epidemic's events. A state is theta
// with an estimate P of p(theta, y), the mean weight of R runs that draw the rest. A walk proposes
// another theta, R runs make its own P', and min(1, P' / P) accepts: since P is unbiased, and stays
// as it is as long as the state does, the law is the posterior's, however noisy P is. One of the R
// runs, drawn in proportion to its weight, is the state's trace: a draw of the whole posterior.
//
// With a surrogate, k steps of such a chain inside it propose: their estimates S are part of the
// state, and P' S / (P S') accepts (delayed acceptance).
//
// A share of proposals is drawn from the prior, where p(theta) must depend on nothing else:
// accepted by the ratio of P / p(theta), they leave what a walk or the surrogate is caught in.
//
// R adapts during burn-in, to a variance of log P near 1.5 (Doucet et al. 2015 have 1.4 to 3).
#pragma once

#include "psn/infer/marginal_runs.h"
#include "psn/infer/metropolis.h"

namespace psn {

struct MarginalOptions : MetropolisOptions {
  std::vector<std::string> parameters;  // names, addresses or lists of latents
  Simulator* surrogate = nullptr;       // with the simulator's addresses
  std::uint64_t most_moves = 200;       // inside the surrogate, for one of the simulator
  double fresh_share = 0.05;            // of proposals from the prior
  std::uint64_t most_runs = 1'000;      // for an estimate
  std::uint64_t burn_in_runs = 0;       // of a chain, about, at most; 0: no limit
};

struct MarginalResult {
  Posterior posterior;
  double acceptance = 0;
  std::uint64_t iterations = 0;    // of all chains, burn-in included
  double moves = 0;                // inside the surrogate for one of the simulator; 0: none
  double runs = 0;                 // of the simulator for an estimate after burn-in
  double variance = 0;             // of log P, about
  std::uint64_t longest_stay = 0;  // iterations in one state
};

// Throws InvalidArgument for a surrogate with another table of addresses; ModelError if a chain
// finds no state to start from, for parameters that some runs do not have, or that fresh_share does
// not go with. Depends on neither width nor threads.
MarginalResult pseudo_marginal(Simulator& simulator, const Observations& observations,
                               const MarginalOptions& options);

}  // namespace psn
