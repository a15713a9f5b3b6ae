// The density of given traces under a surrogate: log s(x, a), the transition to `end` included.
// Samples and observations count; tags and factors are no random choices.
#pragma once

#include <span>
#include <vector>

#include "psn/core/trace.h"
#include "psn/nn/executor.h"

namespace psn {

// Transitions and addresses that the network does not know.
enum class UnknownEvaluation {
  kRenormalise,  // have probability zero, and known ones the rest: Eq. 9, the law of execution
  kZero,         // have probability zero; known ones keep what the network gives them
  kExpand,       // evaluated on a copy of the network that has grown by them: Theorem 2
};

// -inf for traces of probability zero. Growth needs the entries' distributions
// (RunOptions::keep_distributions); throws InvalidArgument if one that is needed is missing.
std::vector<double> log_prob(std::shared_ptr<const CompiledNetwork> network,
                             std::span<const Trace> traces, UnknownEvaluation unknown);
double log_prob(const Network& network, const Trace& trace, UnknownEvaluation unknown);

// Of traces that this surrogate made: that it takes their paths, given their values (Eq. 9).
std::vector<double> path_log_prob(std::shared_ptr<const CompiledNetwork> network,
                                  std::span<const Trace> traces);

}  // namespace psn
