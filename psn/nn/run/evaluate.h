// The density of given traces under a surrogate: log s(x, a), the transition to `end` included.
// Samples and observations count, and transitions to all that the network knows; values of tags
// (psn/nn/steps.h) and factors do not.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "psn/core/trace.h"
#include "psn/nn/run/executor.h"
#include "psn/nn/successors.h"

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

// Of taking a row of the logits at `from`, among the rows that can be taken there (Eq. 9); -inf:
// this one cannot. `known` is work space.
struct KnownRows {
  Targets targets;
  std::vector<float> logits;
};
double log_prob_of_known(const Network& network, NodeId from, std::span<const float> logits,
                         std::size_t row, const Indices& indices, KnownRows& known);

// Takes what the network says along given traces: calls for one trace come in order, those of
// several traces interleave.
class Follower {
 public:
  virtual ~Follower() = default;
  // The logits at `from`, and the row of them (>= 1) that the trace takes; `indices` are those that
  // the trace has passed.
  virtual void transition(std::size_t trace, NodeId from, std::span<const float> logits,
                          std::size_t row, const Indices& indices) = 0;
  // The distribution of the choice that the trace makes next.
  virtual void choice(std::size_t trace, const Entry& entry, const Distribution& distribution) = 0;
  // After that, and at what is no choice (psn/nn/steps.h) as well: a value that the network goes on
  // with in the trace's place; nullopt: the trace's.
  virtual std::optional<Value> instead(std::size_t, const Entry&, const Distribution&) {
    return std::nullopt;
  }
};
// Returns the traces that leave the network's vocabulary: these are not followed.
std::vector<std::size_t> follow(std::shared_ptr<const CompiledNetwork> network,
                                std::span<const Trace> traces, Follower& follower);

}  // namespace psn
