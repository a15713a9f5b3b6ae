// Trace: one execution of a simulator, choice by choice (x_a, a) in the order they were made, with
// the densities that every engine needs.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "psn/core/address.h"
#include "psn/core/distribution.h"
#include "psn/core/value.h"

namespace psn {

enum class Role : std::uint8_t {
  kSample,   // a latent random choice
  kObserve,  // a quantity that can be measured: random, or computed from what is
  kTag,      // a derived quantity that the author wants to see in the trace
  kFactor,   // a soft constraint: a term of the log weight
  kFinish,   // the end of the run (only in requests, never in a trace)
  kFail,     // the run could not be finished: a remote simulator died (only in requests)
  kRound,    // a rejection loop begins, or a round of it ends (only in requests; rounds.h)
};

std::string_view role_name(Role role);

struct Entry {
  const Address* address = nullptr;
  Role role = Role::kSample;
  bool control = true;  // a guide may choose it
  bool given = false;   // the value was given, not drawn: observed, at a latent too, or held
  double log_prob = 0;  // log p(value | what came before), of what was measured if it was given; a
                        // factor's own term; 0: tag, held, computed
  Value value;
  std::shared_ptr<const Distribution> distribution;  // kept if RunOptions::keep_distributions
};

// An observation that the program computes. A simulator has no density of it, a surrogate learns
// one.
inline bool is_computed(const Entry& entry) {
  return entry.role == Role::kObserve && entry.address->variable->site->computed;
}

struct Trace {
  std::vector<Entry> entries;
  Value result;  // what the program returned; empty if nothing

  // log p of all choices and factors: samples, observations given or drawn.
  double log_joint = 0;
  // The part of log_joint that comes from given observations and factors.
  double log_likelihood = 0;
  // log_likelihood + the sum over proposed choices of log p - log q; choices drawn from the model
  // itself contribute nothing. exp(log_weight) is the importance weight of the trace.
  double log_weight = 0;

  // Of a program that draws where it goes next (a surrogate): the log probability of coming to each
  // entry from the one before it, and last of all to the end. Empty: the program draws none, or
  // does not know their probabilities.
  std::vector<double> transitions;

  // The last value of this name or address (of a sample, observation or tag); nullptr if none.
  const Value* find(std::string_view name) const;
  // The same, but throws InvalidArgument.
  const Value& operator[](std::string_view name) const;
  // Number of random choices: samples and observations.
  std::size_t length() const;
  // The sum of `transitions`.
  double log_transitions() const;

  void clear();
};

}  // namespace psn
