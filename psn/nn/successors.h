// Successors: what the transitions of a network mean in a given trace.
//
// A row of a node's logits cannot be taken where it means what an earlier row means already, or an
// index that cannot be meant (IndexRange).
// The probability of such rows counts as unknown: training and the literal measure (Theorems 1 and
// 2) need to know nothing of all this, and execution (Eq. 9) draws among the other rows alone.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "psn/nn/network.h"

namespace psn {

// A trace on its way through the network, which must outlive it, as must scopes.
class Way {
 public:
  explicit Way(const Network& network) : network_(network) {}

  NodeId at() const { return at_; }
  // The row of the logits that leads to a target; nullopt if none does, or a node is not the
  // network's. Ranges of indices are not looked at.
  std::optional<std::uint32_t> row_to(const Target& to) const;
  Step step_to(const Target& to, std::string_view scope) const;
  void go(const Target& to, std::string_view scope);

 private:
  const Network& network_;
  NodeId at_ = Network::kBegin;
  Indices indices_;
};

// By row: where it leads, or nullopt if it cannot be taken; row 0 is unknown. If ranges would leave
// nothing, they do not count.
using Targets = std::vector<std::optional<Target>>;
void find_targets(const Network& network, NodeId from, const Indices& indices, Targets& targets);
// The logits of rows that can be taken; -inf for the others.
void mask(std::span<const float> logits, const Targets& targets, std::vector<float>& possible);

// Algorithm 1 for steps that no row leads to: from each node all new places at once, in the order
// of the steps.
void add_transitions(Network& network, std::span<const SeenStep> steps);

}  // namespace psn
