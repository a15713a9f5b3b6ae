// Network: the probabilistic surrogate network (the paper's Section 3 and Appendix C): its
// vocabulary, its parameters, and how both grow.
//
//   core input at step t:  [value embedding of x_{t-1} | type and address of a_{t-1} | of a_t]
//   value layer of a_t:    h_t -> parameters of x_t
//   transition layer:      h_t, value embedding and value of x_t -> logits over known successors
//
// The address and type parts of the core's input are constants per node, so they are projected once
// into tables (`previous`, `current`) that are added up.
// Beside the core's output h_t the layers see what the network recalls: the sum, over all addresses
// so far, of a linear map of the last value of each. A core squeezes what it passes on into (-1,
// 1).
//
// Row 0 of a transition layer is the unknown mass; row 1 + i is successors[i]. Growth (Algorithm 1)
// appends K copies of row 0 and subtracts log(K + 1) from the biases of all K + 1: every known
// probability, and the total unknown mass, stay exactly as they were, for every input (Theorem 1).
//
// An inference network (Section 2.2) is the same without transitions: its nodes are the latent
// variables, whose value layers give proposals, and the observations, whose embeddings are
// projected into the core's inputs at every step, and past the core to the value layers. Of a
// vector that is proposed component by component, the last hidden layer learns of each component
// what `follow` makes of it, before the next one's outputs are computed.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "psn/core/trace.h"
#include "psn/nn/config.h"
#include "psn/nn/convolution.h"
#include "psn/nn/cores/core.h"
#include "psn/nn/heads/head.h"
#include "psn/nn/heads/proposal.h"
#include "psn/nn/parameters.h"
#include "psn/nn/places.h"
#include "psn/nn/tally/tally.h"

namespace psn {

// One word of the vocabulary: an address, a variable whose instances the runtime counts, or a site
// whose indices it follows as well.
struct Node {
  std::string text;
  // What the simulator called it, so that the surrogate's traces have the same addresses.
  std::string scope, base, name, site_name, type;
  std::optional<std::int64_t> index;
  std::optional<IndexRange> range;  // of a site's indices; nullopt: there were none, or not known
  std::uint32_t instance = 0;       // 0: counted by the runtime
  Role role = Role::kSample;
  bool control = true;
  ValueType value;
  Scaling scaling;

  std::uint32_t type_row = 0;            // of the distribution-type embedding
  BlockId embedding = kNoBlock;          // value -> sample_embedding_dim
  BlockId recall = kNoBlock;             // value -> what is recalled of it
  std::vector<BlockId> value_layers;     // core output, context -> distribution parameters
  BlockId transition_hidden = kNoBlock;  // core output, context, value embedding -> hidden
  BlockId transition = kNoBlock;         // hidden, value -> logits
  BlockId transition_tally = kNoBlock;   // tally -> logits; no rows before there is a plan
  std::vector<TallyUse> tally_uses;      // of its choices
  std::vector<Place> successors;
  std::unordered_map<NodeId, std::vector<std::uint32_t>> rows_to;  // node -> rows of the logits

  // Of inference networks.
  ProposalType proposal;                      // of a latent variable
  BlockId follow = kNoBlock;                  // of a sequential one: component -> last hidden layer
  std::vector<Convolution> convolutions;      // of an observation: its first layers
  std::vector<BlockId> observation_layers;    // value -> embedding
  BlockId observation_skip = kNoBlock;        // value -> what goes past these, if that is shorter
  BlockId observation_projection = kNoBlock;  // embedding and what went past -> core, context
  bool may_be_missing = false;                // the network has learned to do without
};

// An observation that stands for a list: for all indices of its site, however many there are.
inline bool is_list(const Node& node) {
  return node.role == Role::kObserve && node.instance == 0;
}
// Numbers that the layers of an observation see of each value. Of a list also those of the value
// before, whether there is one, and the index.
std::size_t observation_columns(const Node& node);
// Numbers that tell how long a list is, beside what its values have in the mean.
std::size_t length_features(const Node& node);

// The first layers of an observation.
std::vector<Convolution> observation_convolutions(const NetworkConfig& config, const Node& node);
// How many numbers of an observation go past its layers.
std::size_t observation_skip(const NetworkConfig& config, const Node& node);

// What a latent variable is proposed from.
ProposalType proposal_of(const NetworkConfig& config, const Node& node);

// What identifies a node's variable in a simulator's table.
VariableKey variable_key(const Node& node);

class Network {
 public:
  static constexpr NodeId kBegin = 0, kEnd = 1;

  // `blank`: parameters stay zero, to be filled by the caller.
  Network(NetworkConfig config, std::uint64_t seed, bool blank = false);

  const NetworkConfig& config() const { return config_; }
  std::uint64_t seed() const { return seed_; }
  Parameters& parameters() { return parameters_; }
  const Parameters& parameters() const { return parameters_; }

  std::size_t size() const { return nodes_.size(); }
  const Node& node(NodeId id) const { return nodes_[id]; }
  // Observations of an inference network go by their full address, or by their site if all its
  // indices share layers.
  std::optional<NodeId> find(const Address& address, Role role = Role::kSample) const;
  std::size_t transition_count() const;

  bool shares_indices() const { return config_.addressing == Addressing::kShared; }
  // A choice at a node, as transitions lead to it.
  Target target(NodeId node, const Address& address) const {
    return {node, shares_indices() ? address.variable->index : std::nullopt};
  }

  // Growth. The distribution fixes the node's family and shape for good.
  NodeId add_node(const Address& address, const Entry& entry) {
    return add_node(describe(address, entry));
  }
  // In two steps: what the node of an entry is, without parameters of its own, and adding it.
  Node describe(const Address& address, const Entry& entry) const;
  NodeId add_node(Node node);
  // Lets the core see, at random weights, what goes past the layers of all observations that there
  // are. For a network that has learned nothing: an observation that is added later changes nothing
  // until something is learned of it.
  void start_observations();
  std::optional<NodeId> find(const std::string& text) const;
  // Algorithm 1 for K = to.size() new successors; those already known must not be among them.
  void add_successors(NodeId from, const std::vector<Place>& to);
  void widen_range(NodeId node, const IndexRange& range);
  // Replaces a node's scaling and changes the weights that depend on it, so that the network stays
  // the same function of values (exactly for all but outliers). Without `keep_outputs`, what the
  // node's value layers say is taken in the new unit: right while they have learned next to
  // nothing.
  void set_scaling(NodeId node, const Scaling& scaling, bool keep_outputs = true);
  // The first scaling of a new node: nothing has been learned, so no weight changes.
  void start_scaling(NodeId node, const Scaling& scaling) { nodes_[node].scaling = scaling; }
  void set_bounds(NodeId node, const Bounds& bounds);
  void set_may_be_missing(NodeId node) { nodes_[node].may_be_missing = true; }
  // What the runtime counts, from now on and for good. Its inputs start with weights of zero, so no
  // probability changes; those of nodes and transitions that are added later likewise.
  void set_tally(TallyPlan plan);

  // Whether it has a plan of what to count, or is to get one.
  bool tallies() const { return config_.tally && !infers(); }
  const std::optional<TallyPlan>& tally() const { return tally_; }
  std::size_t tally_inputs() const { return tally_ ? tally_->inputs() : 0; }

  bool infers() const { return config_.purpose == Purpose::kInference; }
  bool is_observed(Role role) const { return infers() && role == Role::kObserve; }
  bool is_observation(NodeId node) const { return is_observed(nodes_[node].role); }

  // Sizes.
  std::size_t hidden() const { return core_->outputs(); }
  std::size_t core_inputs() const { return core_->inputs(); }
  std::size_t embedding() const { return config_.sample_embedding_dim; }
  // Numbers that go past the core to the heads: made of the observations, or of values so far.
  std::size_t context() const { return infers() ? config_.observation_context : config_.recall; }
  bool recalls() const { return !infers() && config_.recall > 0; }
  std::size_t observation_outputs() const { return core_inputs() + context(); }
  std::size_t transition_inputs(const Node& node) const {  // of the last layer, without bias
    return &node == &nodes_[kBegin] ? 0 : config_.transition_hidden_dim + node.value.inputs();
  }

  const Core& core() const { return *core_; }
  struct InputProjections {
    BlockId previous_type, previous_address, current_type, current_address, instance;
    BlockId index = kNoBlock;  // of shared indices
    BlockId tally = kNoBlock;  // inputs x core inputs; no rows before there is a plan
  };
  const InputProjections& projections() const { return projections_; }
  BlockId type_embedding() const { return type_embedding_; }
  BlockId address_embedding() const { return address_embedding_; }

  // For files: a blank network whose vocabulary was rebuilt and whose parameters were filled.
  void restored() { blank_ = false; }
  void restore_successors(NodeId from, const std::vector<Place>& to);

 private:
  bool by_instance(Role role) const;
  bool in_list(const Address& address, Role role) const;
  std::string key(const Address& address, Role role) const;
  void add_core();
  void add_layers(Node& node, std::uint64_t stream);
  void add_steps(Node& node, std::uint64_t stream);
  void add_observation_layers(Node& node, std::uint64_t stream);
  void start_proposal(const Node& node);
  void add_tally(Node& node);
  void initialize(BlockId block, std::size_t fan_in, std::uint64_t stream);

  NetworkConfig config_;
  std::uint64_t seed_;
  bool blank_;  // what is added is not initialised
  Parameters parameters_;
  std::vector<Node> nodes_;
  std::unordered_map<std::string, NodeId> node_by_text_;
  std::unordered_map<std::string, std::uint32_t> type_rows_;
  std::shared_ptr<const Core> core_;
  InputProjections projections_{};
  std::optional<TallyPlan> tally_;
  BlockId type_embedding_ = 0, address_embedding_ = 0;
};

// Features of an address as inputs. Of the instance: its logarithm, 0 for the first. Of the index:
// log(1 + |index|) with the index's sign, along which far indices can be reached, and waves of
// periods 2, 4, ..., 64, by which neighbours can be told apart (a loop of just 16 rounds); all are
// 0 if there is none.
inline constexpr std::size_t kIndexFeatures = 12;
float instance_feature(std::uint32_t instance);
std::array<float, kIndexFeatures> index_features(std::optional<std::int64_t> index);

}  // namespace psn
