#include "psn/train/batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "psn/base/error.h"
#include "psn/nn/steps.h"
#include "psn/nn/tally/fit.h"

namespace psn {
namespace {

constexpr std::uint64_t kFew = 256;  // values: too few for the value layers to have learned from

std::string site_of(const Node& node) {
  return node.scope + node.base + "\n" + node.type;
}

// A node is one or the other for good.
void check_same(const Network& network, const Node& met, Role role, bool control) {
  if (met.role != role) {
    throw ModelError(
        fmt::format("'{}' is a latent choice in one trace and observed in another", met.text));
  }
  if (!network.infers() && met.control != control) {
    throw ModelError(
        fmt::format("'{}' is under control in one trace and not in another", met.text));
  }
}

// A tag's length is not part of its address, as a choice's is.
void check_length(const Node& met, const Value& value) {
  if (value.size() == met.value.components()) return;
  throw ModelError(
      fmt::format("'{}' has {} numbers in one trace and {} in another: a surrogate learns tags of "
                  "one length; `tags` ignore leaves them out",
                  met.text, met.value.components(), value.size()));
}

}  // namespace

Growth::Growth(Network& network, bool inherit)
    : network_(network), inherit_(inherit), blank_(network.size() == Network::kEnd + 1) {
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

bool Growth::is_step(const Entry& entry) const {
  if (!network_.infers()) return true;
  return entry.role == Role::kSample && entry.control && entry.distribution &&
         has_proposal(*entry.distribution);
}

bool Growth::is_input(const Entry& entry) const {
  return network_.infers() && entry.role == Role::kObserve && entry.distribution;
}

NodeId Growth::known(const Entry& entry) const {
  if (entry.address == &result_address()) return result_node_;
  const std::uint32_t id = entry.address->id;
  return id < node_of_.size() ? node_of_[id] : Batch::kNone;
}

void Growth::set_known(const Address& address, NodeId node) {
  if (&address == &result_address()) {
    result_node_ = node;
    return;
  }
  if (address.id >= node_of_.size()) node_of_.resize(address.id + 1, Batch::kNone);
  node_of_[address.id] = node;
}

const Node& Growth::node(NodeId id, const Look& look) const {
  return id < network_.size() ? network_.node(id) : look.novelties.nodes[id - network_.size()];
}

NodeId Growth::find_or_note(const Entry& entry, Look& look) {
  NodeId id = known(entry);
  if (id == Batch::kNone) id = note(entry, look);
  check_same(network_, node(id, look), entry.role, entry.control);
  if (is_derived(entry.role)) check_length(node(id, look), entry.value);
  return id;
}

NodeId Growth::note(const Entry& entry, Look& look) {
  const Address& address = *entry.address;
  if (entry.role == Role::kFactor) {
    throw InvalidArgument(fmt::format(
        "'{}' is a factor: it weighs runs and draws nothing, so no surrogate can "
        "learn it; state it as an observation, or infer in the simulator itself (`engine` is, "
        "lmh or rmh)",
        address.text));
  }
  auto id = network_.find(address, entry.role);
  if (!id) {
    Node described = network_.describe(address, entry);
    const auto next = static_cast<NodeId>(network_.size() + look.novelties.nodes.size());
    const auto [found, is_new] = look.new_nodes.try_emplace(described.text, next);
    if (is_new) look.novelties.nodes.push_back(std::move(described));
    id = found->second;
    noted_.emplace_back(&address, entry.role);
  }
  set_known(address, *id);
  return *id;
}

void Growth::measure(NodeId id, const Entry& entry, Look& look) const {
  const Node& met = node(id, look);
  if (met.value.family == family_of<Categorical>) return;
  if (entry.value.size() != met.value.components() || !entry.distribution) {
    throw ModelError(fmt::format("'{}': a value of another form than before", met.text));
  }
  const bool complete = id < state_.estimators.size() && state_.estimators[id].complete();
  if (complete) {
    Bounds wider = state_.estimators[id].bounds();
    wider.include(bounds_of(*entry.distribution));
    if (wider == state_.estimators[id].bounds()) return;
  }
  const auto [found, first] = look.measured.try_emplace(id, look.novelties.measured.size());
  if (first) look.novelties.measured.emplace_back(id, Measurements());
  Measurements& measurements = look.novelties.measured[found->second].second;
  if (complete) {
    measurements.add(bounds_of(*entry.distribution));
  } else {
    measurements.add(entry.value, *entry.distribution);
  }
}

// Returns whether the trace has something that is new.
bool Growth::look_at(const Trace& trace, Look& look) {
  Way way(network_);
  std::map<NodeId, IndexRange> passed;
  bool found_new = false;
  const auto go = [&](const Target& to, std::string_view scope) {
    if (network_.infers()) return;
    if (!way.row_to(to)) {
      auto& steps = look.novelties.transitions;
      const Step step = way.step_to(to, scope);
      const auto [known, is_new] = look.transitions.try_emplace(step, steps.size());
      is_new ? void(steps.push_back({step})) : void(++steps[known->second].count);
      found_new = true;
    }
    way.go(to, scope);
    if (!to.index) return;
    const IndexRange one{*to.index, *to.index, 1, 1};
    IndexRange& range = passed.try_emplace(to.node, one).first->second;
    range.low = std::min(range.low, *to.index);
    range.high = std::max(range.high, *to.index);
  };
  const Steps all(trace, network_.config().tags);
  const bool collects = look.measures_known && awaits_tally();
  for (const Entry* at : all.entries) {
    const Entry& entry = *at;
    const bool steps = is_step(entry), input = is_input(entry);
    if (!steps && !input) continue;
    const NodeId id = find_or_note(entry, look);
    if (look.measures_known || id >= network_.size()) measure(id, entry, look);
    if (steps) go(network_.target(id, *entry.address), entry.address->variable->site->scope);
    if (collects) {
      const TallyType type = tally_type(node(id, look).value);
      look.novelties.tally.add(entry.address->variable->site->text, type,
                               tally_value(type, entry.value));
    }
    if (input) ++look.observed[id];
  }
  go({Network::kEnd, {}}, "");
  if (collects) look.novelties.tally.end_trace();
  return look_at_ranges(passed, look) || found_new;
}

// Returns whether an index was not to be expected.
bool Growth::look_at_ranges(const std::map<NodeId, IndexRange>& passed, Look& look) const {
  bool found_new = false;
  for (const auto& [id, range] : passed) {
    const auto known = id < network_.size() ? network_.node(id).range : std::nullopt;
    if (known) {
      found_new |= !known->allows(range.low) || !known->allows(range.high);
      IndexRange wider = *known;
      wider.include(range);
      if (wider == *known) continue;
    }
    const auto [found, is_new] = look.ranges.try_emplace(id, range);
    if (!is_new) found->second.include(range);
  }
  return found_new;
}

Growth::Look Growth::look(std::span<const Trace> traces, bool measures_known) {
  Look look;
  look.measures_known = measures_known;
  look.novelties.traces = traces.size();
  unseen_ = 0;
  for (const auto& [address, role] : noted_) set_known(*address, Batch::kNone);
  noted_.clear();  // of a look that failed
  for (const Trace& trace : traces) unseen_ += look_at(trace, look);
  for (const auto& [id, range] : look.ranges) look.novelties.ranges.push_back({id, range});
  if (network_.infers()) note_missing(look);
  return look;
}

// An observation that some traces lack is one that the network learns to do without.
void Growth::note_missing(Look& look) const {
  const auto end = static_cast<NodeId>(network_.size() + look.novelties.nodes.size());
  for (NodeId id = 0; id < end; ++id) {
    const Node& met = node(id, look);
    if (met.role != Role::kObserve || met.may_be_missing) continue;
    const auto found = look.observed.find(id);
    const std::uint64_t count = found == look.observed.end() ? 0 : found->second;
    if (id >= network_.size() || count < look.novelties.traces) {
      look.novelties.observed.push_back({id, count});
    }
  }
}

Novelties Growth::look(std::span<const Trace> traces) {
  return std::move(look(traces, true).novelties);
}
void Growth::absorb(std::span<const Trace> traces) {
  apply({look(traces, true).novelties});
}
void Growth::learn_names(std::span<const Trace> traces) {
  apply({look(traces, false).novelties});
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
    check_same(network_, network_.node(*found), added.role, added.control);
    return *found;
  }
  const NodeId id = network_.add_node(added);
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
