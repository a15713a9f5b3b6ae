// Steps: what of a trace a surrogate takes a step for, in order: its random choices and, if it
// learns tags (NetworkConfig::tags), its tags and what the program returned. An observation that
// the program computes is learned like a tag, but always, and as what it is, an observation: a
// surrogate can be asked for the density of one.
//
// A tag is a function of the trace so far. Its value is learned all the same, as a Normal around
// what the network makes of the trace, and is drawn from that where the surrogate runs: so tags and
// choices have their joint law also where the function is learned only roughly. Values of tags
// count in no density: not in log s, weights or divergences. That the surrogate comes to a tag is a
// transition like any other.
#pragma once

#include <vector>

#include "psn/core/trace.h"
#include "psn/nn/network.h"

namespace psn {

struct Steps {
  // The trace must outlive it. Throws ModelError for a tag that is not finite.
  Steps(const Trace& trace, bool with_tags);

  std::vector<const Entry*> entries;  // valid also when `derived` has been moved from here
  // Those of them that are no random choices, with Normal(value, 0) as their distribution; what the
  // program returned has role kFinish.
  std::vector<Entry> derived;
};

// Tags, and what a program returned.
inline bool is_derived(Role role) {
  return role == Role::kTag || role == Role::kFinish;
}
// Those, and observations that it computes: what counts in no density of the program's.
inline bool is_derived(const Entry& entry) {
  return is_derived(entry.role) || is_computed(entry);
}
inline bool is_derived(const Node& node) {
  return is_derived(node.role) || (node.role == Role::kObserve && node.type == kComputed);
}

// The address of what a program returned; it belongs to no simulator's table.
const Address& result_address();

}  // namespace psn
