#include "psn/train/growth.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "psn/base/error.h"
#include "psn/nn/tally/fit.h"

namespace psn {
namespace {

constexpr std::uint64_t kFew = 256;  // values: too few for the value layers to have learned from

std::string site_of(const Node& node) {
  return node.scope + node.base + "\n" + node.type;
}

}  // namespace

Growth::Growth(Network& network, bool inherit, std::size_t most_bytes)
    : network_(network),
      inherit_(inherit),
      most_bytes_(most_bytes),
      blank_(network.size() == Network::kEnd + 1) {
  state_.fitted.assign(network.size(), GrowthState::kGiven);
  for (NodeId id = Network::kEnd + 1; id < network.size(); ++id) {
    if (!network.is_observation(id)) sibling_[site_of(network.node(id))] = id;
  }
}

// Only the node itself is new to the network: whatever it starts as, nothing known changes.
void Growth::start_as_sibling(NodeId id) {
  if (network_.is_observation(id)) return;
  const auto [found, first] = sibling_.try_emplace(site_of(network_.node(id)), id);
  if (first) return;
  const NodeId sibling = std::exchange(found->second, id);
  const Node &from = network_.node(sibling), &to = network_.node(id);
  if (!inherit_ || from.value.outputs() != to.value.outputs() ||
      from.value.inputs() != to.value.inputs() ||
      from.value_layers.size() != to.value_layers.size()) {
    return;
  }
  Parameters& p = network_.parameters();
  const auto copy = [&](BlockId source, BlockId target) {
    const Block &a = p.block(source), &b = p.block(target);
    if (a.rows != b.rows || a.columns != b.columns) return;
    std::copy_n(p.values(source), std::size_t{a.rows} * a.columns, p.values(target));
  };
  copy(from.embedding, to.embedding);
  if (network_.recalls()) copy(from.recall, to.recall);
  for (std::size_t i = 0; i < from.value_layers.size(); ++i) {
    copy(from.value_layers[i], to.value_layers[i]);
  }
  if (from.follow != kNoBlock && to.follow != kNoBlock) copy(from.follow, to.follow);
  if (!network_.infers()) copy(from.transition_hidden, to.transition_hidden);
  const std::size_t width = p.block(network_.address_embedding()).columns;
  float* addresses = p.values(network_.address_embedding());
  std::copy_n(addresses + sibling * width, width, addresses + id * width);
  const std::uint64_t fitted = state_.fitted[sibling];
  if (fitted > 0) {  // the weights are in the sibling's units
    network_.start_scaling(id, from.scaling);
    state_.fitted[id] = fitted == GrowthState::kGiven ? kFew : fitted;
  }
}

void Growth::apply(std::vector<Novelties> by_rank) {
  const auto first_new = static_cast<NodeId>(network_.size());
  for (Novelties& novelties : by_rank) add_nodes(novelties, first_new);
  if (std::exchange(blank_, false)) network_.start_observations();
  add_steps(by_rank);
  state_.estimators.resize(network_.size());
  for (const Novelties& novelties : by_rank) {
    for (const auto& [id, measurements] : novelties.measured)
      state_.estimators[id].add(measurements, id);
  }
  set_missing(by_rank, first_new);
  refit();
  fit_tally(by_rank);
  for (const auto& [address, role] : noted_) {
    set_known(*address, *network_.find(*address, role));
  }
  noted_.clear();
}

// The novelties have the network's own numbers afterwards.
void Growth::add_nodes(Novelties& novelties, NodeId first_new) {
  std::vector<NodeId> numbers;
  for (const Node& added : novelties.nodes) numbers.push_back(add_node(added));
  const auto renumber = [&](NodeId& id) {
    if (id >= first_new) id = numbers.at(id - first_new);
  };
  for (SeenStep& seen : novelties.transitions) {
    renumber(seen.step.from);
    renumber(seen.step.to);
  }
  for (auto& [id, range] : novelties.ranges) renumber(id);
  for (auto& [id, measurements] : novelties.measured) renumber(id);
  for (auto& [id, count] : novelties.observed) renumber(id);
}

NodeId Growth::add_node(const Node& added) {
  if (const auto found = network_.find(added.text)) {
    check_same(network_.node(*found), added.role, added.control);
    return *found;
  }
  const NodeId id = network_.add_node(added);
  if (network_.parameters().bytes() > most_bytes_) {
    throw ModelError(fmt::format(
        "a network of {} addresses and more (the last one '{}') needs more than {} MB to learn: "
        "share layers among them (`addressing` {}), make it smaller (`core_dim`), or allow more "
        "(`network_memory`)",
        network_.size() - Network::kEnd - 1, added.text, most_bytes_ / 1'000'000,
        network_.infers() ? "site" : "shared"));
  }
  state_.fitted.resize(network_.size(), 0);
  start_as_sibling(id);
  return id;
}

void Growth::add_steps(const std::vector<Novelties>& by_rank) {
  std::vector<SeenStep> steps;
  for (const Novelties& novelties : by_rank) {
    steps.insert(steps.end(), novelties.transitions.begin(), novelties.transitions.end());
    for (const auto& [id, range] : novelties.ranges) network_.widen_range(id, range);
  }
  add_transitions(network_, steps);
}

void Growth::set_missing(const std::vector<Novelties>& by_rank, NodeId first_new) {
  std::uint64_t traces = 0;
  std::unordered_map<NodeId, std::uint64_t> seen;
  for (const Novelties& novelties : by_rank) {
    traces += novelties.traces;
    for (const auto& [id, count] : novelties.observed) seen[id] += count;
  }
  for (const auto& [id, count] : seen) {
    if (id < first_new || count < traces) network_.set_may_be_missing(id);
  }
}

void Growth::refit() {
  for (NodeId id = 0; id < state_.estimators.size(); ++id) {
    ScalingEstimator& estimator = state_.estimators[id];
    if (estimator.count() == 0) continue;
    fit_bounds(id);
    std::uint64_t& fitted = state_.fitted[id];
    if (fitted == GrowthState::kGiven || !estimator.due()) continue;
    const Scaling scaling = estimator.fit(network_.node(id).scaling);
    if (fitted == 0) {
      network_.start_scaling(id, scaling);
    } else {
      network_.set_scaling(id, scaling, fitted >= kFew);
    }
    fitted = estimator.count();
  }
}

// After a thousand traces or so, which are learned from without.
void Growth::fit_tally(const std::vector<Novelties>& by_rank) {
  if (!awaits_tally()) return;
  for (const Novelties& novelties : by_rank) state_.tally.append(novelties.tally);
  if (!state_.tally.enough()) return;
  network_.set_tally(psn::fit_tally(state_.tally));
  state_.tally = {};
}

void Growth::fit_bounds(NodeId id) {
  const Scaling& scaling = network_.node(id).scaling;
  const Bounds now{scaling.low, scaling.high, scaling.bounds_vary};
  Bounds seen = state_.estimators[id].bounds();
  if (state_.fitted[id] == GrowthState::kGiven) seen.include(now);
  if (seen != now) network_.set_bounds(id, seen);
}

}  // namespace psn
