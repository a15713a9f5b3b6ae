#include "psn/nn/network.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "psn/base/error.h"
#include "psn/base/text.h"

namespace psn {

float instance_feature(std::uint32_t instance) {
  return std::log(static_cast<float>(std::max(1u, instance)));
}

std::array<float, kIndexFeatures> index_features(std::optional<std::int64_t> index) {
  std::array<float, kIndexFeatures> features{};
  if (!index) return features;
  const auto number = static_cast<double>(*index);
  auto feature = features.begin();
  *feature++ = static_cast<float>(std::copysign(std::log1p(std::abs(number)), number));
  *feature++ = *index % 2 ? -1.0f : 1.0f;
  for (std::int64_t period = 4; feature != features.end(); period *= 2) {
    const double angle =
        2 * std::numbers::pi * static_cast<double>(*index % period) / static_cast<double>(period);
    *feature++ = static_cast<float>(std::cos(angle));
    *feature++ = static_cast<float>(std::sin(angle));
  }
  return features;
}

Network::Network(NetworkConfig config, std::uint64_t seed, bool blank)
    : config_(std::move(config)), seed_(seed), blank_(blank) {
  if (const auto wrong = config_.problem()) throw InvalidArgument("network: " + *wrong);
  core_ = make_core(config_);
  add_core();
  const auto inputs = static_cast<std::uint32_t>(core_inputs());
  const auto types = static_cast<std::uint32_t>(config_.distribution_type_embedding_dim);
  const auto addresses = static_cast<std::uint32_t>(config_.address_embedding_dim);
  projections_ = {parameters_.add(inputs, types), parameters_.add(inputs, addresses),
                  parameters_.add(inputs, types), parameters_.add(inputs, addresses),
                  parameters_.add(inputs, 1)};
  for (const BlockId block : {projections_.previous_type, projections_.previous_address,
                              projections_.current_type, projections_.current_address}) {
    initialize(block, hidden(), 100 + block);
  }
  if (shares_indices()) projections_.index = parameters_.add(kIndexFeatures, inputs);
  if (tallies()) projections_.tally = parameters_.add(0, inputs);
  type_embedding_ = parameters_.add(0, types);
  address_embedding_ = parameters_.add(0, addresses);
  for (const char* text : {"begin-execution", "end-execution"}) {
    Node boundary;
    boundary.text = boundary.base = text;
    boundary.type = "Boundary";
    add_node(std::move(boundary));
  }
}

void Network::add_core() {
  for (const CoreBlock& block : core_->blocks()) {
    const auto columns = static_cast<std::uint32_t>(block.columns);
    const BlockId id = parameters_.add(static_cast<std::uint32_t>(block.rows), columns);
    if (block.fan_in > 0) initialize(id, block.fan_in, 1 + id);
    float* values = parameters_.values(id);
    for (std::size_t i = block.raised_begin * columns; i < block.raised_end * columns; ++i) {
      values[i] += 1;
    }
  }
}

// Uniform within +-1 / sqrt(fan_in), from a stream of the seed that belongs to the block.
void Network::initialize(BlockId id, std::size_t fan_in, std::uint64_t stream) {
  if (blank_) return;
  Rng rng(seed_, stream, 0x6e6e);
  const double bound = 1 / std::sqrt(static_cast<double>(std::max<std::size_t>(1, fan_in)));
  const Block& block = parameters_.block(id);
  float* values = parameters_.values(id);
  for (std::size_t i = 0; i < std::size_t{block.rows} * block.columns; ++i) {
    values[i] = static_cast<float>(bound * (2 * rng.uniform() - 1));
  }
}

VariableKey variable_key(const Node& node) {
  return {.scope = node.scope,
          .base = node.base,
          .name = node.site_name,
          .type = node.type,
          .index = node.index};
}

bool Network::by_instance(Role role) const {
  return config_.addressing == Addressing::kInstance || (infers() && role == Role::kObserve);
}

// Is it an observation that goes by its site?
bool Network::in_list(const Address& address, Role role) const {
  if (!infers() || role != Role::kObserve || !address.variable->index) return false;
  const Variable& variable = *address.variable;
  return config_.observation_layers_of(variable.name, variable.site->name).shared;
}

std::string Network::key(const Address& address, Role role) const {
  if (in_list(address, role)) return address.variable->site->text;
  if (by_instance(role)) return address.text;
  return shares_indices() ? address.variable->site->text : address.variable->text;
}

std::optional<NodeId> Network::find(const Address& address, Role role) const {
  return find(key(address, role));
}

std::optional<NodeId> Network::find(const std::string& text) const {
  const auto found = node_by_text_.find(text);
  return found == node_by_text_.end() ? std::nullopt : std::optional(found->second);
}

std::size_t Network::transition_count() const {
  std::size_t count = 0;
  for (const Node& node : nodes_) count += node.successors.size();
  return count;
}

Node Network::describe(const Address& address, const Entry& entry) const {
  if (!entry.distribution) {
    throw InvalidArgument(fmt::format("'{}' has no distribution to learn", address.text));
  }
  const Distribution& d = *entry.distribution;
  const Variable& variable = *address.variable;
  Node node;
  node.text = key(address, entry.role);
  node.scope = variable.site->scope;
  node.base = variable.site->base;
  const bool list = in_list(address, entry.role);
  const bool all_indices = list || (shares_indices() && !is_observed(entry.role));
  node.name = all_indices ? variable.site->name : variable.name;
  node.site_name = variable.site->name;
  node.type = variable.site->type;
  if (!all_indices) node.index = variable.index;
  node.instance = by_instance(entry.role) && !list ? address.instance : 0;
  node.role = entry.role;
  node.control = entry.control;
  node.value = {d.family(), d.shape(), static_cast<std::uint32_t>(d.categories()),
                d.family() == family_of<Mixture>
                    ? static_cast<std::uint32_t>(config_.mixture_components)
                    : 0};
  if (const auto wrong = infers() ? node.value.problem() : node.value.head_problem()) {
    throw InvalidArgument(fmt::format("'{}': {}", abbreviated(address.text), *wrong));
  }
  if (!infers() && node.value.family == family_of<Mixture> && (d.discrete() || d.on_simplex())) {
    throw InvalidArgument(
        fmt::format("'{}': a mixture of {} cannot be learned yet", address.text,
                    d.discrete() ? "discrete distributions" : "distributions on the simplex"));
  }
  node.scaling.location.assign(node.value.components(), 0.0f);
  node.scaling.scale.assign(node.value.components(), 1.0f);
  return node;
}

NodeId Network::add_node(Node node) {
  const auto id = static_cast<NodeId>(nodes_.size());
  const std::uint64_t stream = 1000 + 10ull * id;
  const auto [type, is_new] =
      type_rows_.try_emplace(node.type, static_cast<std::uint32_t>(type_rows_.size()));
  node.type_row = type->second;
  const auto new_row = [&](BlockId table, std::uint64_t row_stream) {
    parameters_.append_rows(table, 1);
    if (blank_) return;
    Rng rng(seed_, row_stream, 0x6e6e);
    const Block& block = parameters_.block(table);
    float* row = parameters_.values(table) + std::size_t{block.rows - 1} * block.columns;
    for (std::uint32_t j = 0; j < block.columns; ++j) row[j] = static_cast<float>(rng.normal());
  };
  if (is_new) new_row(type_embedding_, 500 + type->second);
  new_row(address_embedding_, stream);
  if (id == kBegin) {
    if (!infers()) node.transition = parameters_.add(1, 1);
  } else if (infers() && node.role == Role::kObserve) {
    add_observation_layers(node, stream);
  } else if (id != kEnd) {
    add_layers(node, stream);
  }
  node_by_text_.emplace(node.text, id);
  nodes_.push_back(std::move(node));
  return id;
}

void Network::add_layers(Node& node, std::uint64_t stream) {
  const auto h = static_cast<std::uint32_t>(hidden());
  const auto e = static_cast<std::uint32_t>(embedding());
  const auto inputs = static_cast<std::uint32_t>(node.value.inputs());
  node.embedding = parameters_.add(e, inputs + 1);
  initialize(node.embedding, inputs, stream + 1);
  if (infers()) node.proposal = proposal_of(config_, node);
  const std::size_t outputs = infers() ? node.proposal.outputs() : node.value.outputs();
  const VariableLayers& layers = config_.layers_of(node.name, node.site_name);
  auto width = static_cast<std::uint32_t>(h + context());
  for (std::size_t layer = 0; layer < layers.num_layers; ++layer) {
    const bool last = layer + 1 == layers.num_layers;
    const auto rows = static_cast<std::uint32_t>(last ? outputs : layers.hidden_dim);
    node.value_layers.push_back(parameters_.add(rows, width + 1));
    initialize(node.value_layers.back(), width, stream + 2 + layer);
    width = rows;
  }
  if (node.proposal.sequential) {
    node.follow = parameters_.add(static_cast<std::uint32_t>(node.proposal.size),
                                  static_cast<std::uint32_t>(layers.hidden_dim));
  }
  if (!infers()) return add_steps(node, stream);
  if (config_.sequential_proposals) start_proposal(node);
}

// What a surrogate has besides.
void Network::add_steps(Node& node, std::uint64_t stream) {
  const auto inputs = static_cast<std::uint32_t>(node.value.inputs());
  const auto t = static_cast<std::uint32_t>(config_.transition_hidden_dim);
  const auto before = static_cast<std::uint32_t>(hidden() + context() + embedding());
  if (recalls()) {
    node.recall = parameters_.add(static_cast<std::uint32_t>(context()), inputs + 1);
    // Small, so that the heads begin with the core's output, which is tame.
    initialize(node.recall, 100 * inputs, stream + 9);
  }
  node.transition_hidden = parameters_.add(t, before + 1);
  initialize(node.transition_hidden, before, stream + 8);
  node.transition = parameters_.add(1, t + inputs + 1);  // the unknown row starts at zero
  // There from the start, so that the numbers of blocks do not depend on when the plan was made.
  if (tallies()) node.transition_tally = parameters_.add(0, 0);
  if (tally_) add_tally(node);
}

void Network::add_tally(Node& node) {
  node.tally_uses =
      tally_uses(tally_->sources, fmt::format("{}{}__{}", node.scope, node.base, node.type));
  parameters_.set_columns(node.transition_tally, static_cast<std::uint32_t>(tally_->inputs()));
  parameters_.append_rows(node.transition_tally, parameters_.block(node.transition).rows);
}

void Network::set_tally(TallyPlan plan) {
  if (tally_ || !tallies()) throw InvalidArgument("the network does not take another tally");
  tally_ = std::move(plan);
  parameters_.append_rows(projections_.tally, static_cast<std::uint32_t>(tally_->inputs()));
  for (Node& node : nodes_) {
    if (node.transition_tally != kNoBlock) add_tally(node);
  }
}

void Network::add_successors(NodeId from, const std::vector<Place>& to) {
  if (to.empty()) return;
  const BlockId id = nodes_[from].transition;
  restore_successors(from, to);
  const Block& block = parameters_.block(id);
  float* unknown = parameters_.values(id);
  unknown[block.columns - 1] -= std::log(static_cast<float>(to.size() + 1));
  for (std::size_t row = block.rows - to.size(); row < block.rows; ++row) {
    std::copy_n(unknown, block.columns, unknown + row * block.columns);
  }
  if (nodes_[from].transition_tally == kNoBlock || !tally_) return;
  const Block& tally = parameters_.block(nodes_[from].transition_tally);
  float* weights = parameters_.values(nodes_[from].transition_tally);
  for (std::size_t row = tally.rows - to.size(); row < tally.rows; ++row) {
    std::copy_n(weights, tally.columns, weights + row * tally.columns);
  }
}

void Network::restore_successors(NodeId from, const std::vector<Place>& to) {
  Node& node = nodes_[from];
  parameters_.append_rows(node.transition, static_cast<std::uint32_t>(to.size()));
  if (tally_ && node.transition_tally != kNoBlock) {
    parameters_.append_rows(node.transition_tally, static_cast<std::uint32_t>(to.size()));
  }
  for (const Place& successor : to) {
    node.successors.push_back(successor);
    node.rows_to[successor.node].push_back(static_cast<std::uint32_t>(node.successors.size()));
  }
}

void Network::widen_range(NodeId node, const IndexRange& range) {
  auto& known = nodes_[node].range;
  known ? known->include(range) : void(known = range);
}

void Network::set_bounds(NodeId id, const Bounds& bounds) {
  Scaling& scaling = nodes_[id].scaling;
  scaling.low = bounds.low;
  scaling.high = bounds.high;
  scaling.bounds_vary = bounds.vary;
}

void Network::set_scaling(NodeId id, const Scaling& scaling, bool keep_outputs) {
  Node& node = nodes_[id];
  const Scaling old = node.scaling;
  node.scaling = scaling;
  if (node.value.family == family_of<Categorical>) return;
  // u = (x - m) / s in old units is a + b u' in new ones.
  const std::size_t inputs = node.value.inputs();
  // `constant`: the column whose input is 1 where these are there; none: the bias.
  const auto rescale_inputs = [&](BlockId block_id, std::size_t first_column,
                                  std::optional<std::size_t> constant = {}) {
    const Block& block = parameters_.block(block_id);
    for (std::size_t row = 0; row < block.rows; ++row) {
      float* weights = parameters_.values(block_id) + row * block.columns;
      for (std::size_t i = 0; i < inputs; ++i) {
        float& w = weights[first_column + i];
        weights[constant.value_or(block.columns - 1)] +=
            w * (scaling.location[i] - old.location[i]) / old.scale[i];
        w *= scaling.scale[i] / old.scale[i];
      }
    }
  };
  if (is_observation(id)) {
    // The windows of a convolution share their weights, so they can't make up for it one by one.
    if (node.convolutions.empty()) rescale_inputs(node.observation_layers.front(), 0);
    if (is_list(node)) rescale_inputs(node.observation_layers.front(), inputs, 2 * inputs);
    const std::size_t skip = observation_skip(config_, node);
    if (node.observation_skip != kNoBlock) {
      rescale_inputs(node.observation_skip, 0);
    } else if (skip > 0) {
      rescale_inputs(node.observation_projection,
                     parameters_.block(node.observation_projection).columns - 1 - skip);
    }
    return;
  }
  rescale_inputs(node.embedding, 0);
  if (node.recall != kNoBlock) rescale_inputs(node.recall, 0);
  if (infers()) return;  // proposals are in the model's own units
  rescale_inputs(node.transition, config_.transition_hidden_dim);

  if (!keep_outputs) return;
  const BlockId last = node.value_layers.back();
  rescale_outputs(node.value, old, scaling, parameters_.values(last),
                  parameters_.block(last).columns);
}

}  // namespace psn
