// The address-transition graph of a simulator (the paper's Figure 3c and Appendix D.4): how often
// each random choice is followed by each other, from begin-execution to end-execution.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "psn/core/trace.h"

namespace psn {

class TransitionGraph {
 public:
  enum class Nodes { kAddresses, kSites };
  struct Edge {
    std::string from, to;
    std::uint64_t count;
    std::uint64_t departures;  // transitions that leave `from`
    double probability;        // among those
  };

  explicit TransitionGraph(Nodes nodes = Nodes::kAddresses) : nodes_(nodes) {}

  // Tags and factors are no random choices and do not count.
  void add(const Trace& trace);

  std::uint64_t traces() const { return traces_; }
  // In no order.
  std::vector<Edge> unsorted_edges() const;
  // Sorted by first node (the most visited first, begin-execution before all), then by count.
  std::vector<Edge> edges() const;
  std::string to_dot(double min_probability = 0) const;

 private:
  const std::string* node(const Address& address) const;

  Nodes nodes_;
  std::uint64_t traces_ = 0;
  // Node texts are interned with the addresses, so their pointers identify them.
  std::unordered_map<const std::string*, std::unordered_map<const std::string*, std::uint64_t>>
      counts_;
};

// For Graphviz, without rarer edges.
std::string to_dot(const std::vector<TransitionGraph::Edge>& edges, double min_probability = 0);

}  // namespace psn
