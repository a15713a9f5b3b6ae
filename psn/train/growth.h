// Growth finds what a batch has that the network does not know yet (Algorithm 1) and keeps the
// scaling of each node up to date. What is known costs one table look-up a row. Not thread-safe.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "psn/nn/successors.h"
#include "psn/train/batch.h"
#include "psn/train/novelties.h"

namespace psn {

// What Growth knows besides the network.
struct GrowthState {
  static constexpr std::uint64_t kGiven = ~std::uint64_t{0};
  std::vector<std::uint64_t> fitted;  // by node: values behind its scaling; kGiven: came with it
  std::vector<ScalingEstimator> estimators;  // by node; may be shorter
  TallySample tally;                         // of a network that is to get a plan: traces so far
};

class Growth {
 public:
  // `inherit`: a new node starts as a copy of the last one of the same site (another index or
  // instance) in all but its transitions, so that what is rare profits from what is common.
  // Nodes that the network already has keep their scaling, and their bounds only widen.
  // Throws ModelError when the network's parameters would take more than `most_bytes`.
  explicit Growth(Network& network, bool inherit = false,
                  std::size_t most_bytes = std::numeric_limits<std::size_t>::max());

  const GrowthState& state() const { return state_; }
  void restore(GrowthState state) {
    state_ = std::move(state);
    blank_ = false;
  }

  // Makes the network know every address and transition of the traces, and refits scalings that
  // are due; all in the order of the traces, so that the result depends on nothing else.
  void absorb(std::span<const Trace> traces);
  // The same without the scaling of nodes that the network has: for evaluation.
  void learn_names(std::span<const Trace> traces);
  // absorb() in two steps, for a batch that is divided among ranks: what this rank's part has that
  // the network does not know, and all parts' novelties into the network.
  Novelties look(std::span<const Trace> traces);
  void apply(std::vector<Novelties> by_rank);
  // The traces as rows; they must have been absorbed and must outlive the batch.
  Batch flatten(std::span<const Trace> traces) const;

  // Traces of the last look that had something new.
  std::size_t unseen() const { return unseen_; }

 private:
  // What one look() finds.
  struct Look {
    Novelties novelties;
    bool measures_known = true;  // nodes that the network has, too
    std::unordered_map<std::string, NodeId> new_nodes;
    std::map<Step, std::size_t> transitions;  // their places in novelties.transitions
    std::map<NodeId, IndexRange> ranges;
    std::unordered_map<NodeId, std::size_t> measured;    // by node: its place in novelties.measured
    std::unordered_map<NodeId, std::uint64_t> observed;  // by node: traces that have it
  };

  // Does the network take a step for this entry?
  bool is_step(const Entry& entry) const;
  // Is it an input of an inference network?
  bool is_input(const Entry& entry) const;
  NodeId known(const Entry& entry) const;  // kNone if it is not
  void set_known(const Address& address, NodeId node);
  Look look(std::span<const Trace> traces, bool measures_known);
  bool look_at(const Trace& trace, Look& look);
  NodeId find_or_note(const Entry& entry, Look& look);
  NodeId note(const Entry& entry, Look& look);
  const Node& node(NodeId id, const Look& look) const;
  bool look_at_ranges(const std::map<NodeId, IndexRange>& passed, Look& look) const;
  // A node is one or the other for good: throws ModelError.
  void check_same(const Node& met, Role role, bool control) const;
  void measure(NodeId id, const Entry& entry, Look& look) const;
  void note_missing(Look& look) const;
  bool awaits_tally() const { return network_.tallies() && !network_.tally(); }

  void add_nodes(Novelties& novelties, NodeId first_new);
  NodeId add_node(const Node& node);
  void add_steps(const std::vector<Novelties>& by_rank);
  void set_missing(const std::vector<Novelties>& by_rank, NodeId first_new);
  void start_as_sibling(NodeId id);
  void refit();
  void fit_bounds(NodeId id);
  void fit_tally(const std::vector<Novelties>& by_rank);
  void sort_by_node(Batch& batch) const;
  void sort_lists(Batch& batch) const;

  Network& network_;
  bool inherit_;
  std::size_t most_bytes_;
  bool blank_;                                          // the network knows no address yet
  std::unordered_map<std::string, NodeId> sibling_;     // by site: the last node of it
  std::vector<NodeId> node_of_;                         // by address id
  NodeId result_node_ = Batch::kNone;                   // of what programs return
  std::vector<std::pair<const Address*, Role>> noted_;  // since the last apply()
  GrowthState state_;
  std::size_t unseen_ = 0;
};

}  // namespace psn
