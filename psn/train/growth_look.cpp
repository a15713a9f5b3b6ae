// What traces have that a network does not know.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "psn/base/error.h"
#include "psn/nn/steps.h"
#include "psn/train/growth.h"

namespace psn {
namespace {

// The length of what is computed is not part of its address, as a choice's is.
void check_length(const Node& met, const Value& value) {
  if (value.size() == met.value.components()) return;
  throw ModelError(
      fmt::format("'{}' has {} numbers in one trace and {} in another: {}", met.text,
                  met.value.components(), value.size(),
                  met.role == Role::kObserve
                      ? "observe lists of random length number by number, with an index"
                      : "a surrogate learns tags of one length; `tags` ignore leaves them out"));
}

}  // namespace

void Growth::check_same(const Node& met, Role role, bool control) const {
  if (met.role != role) {
    throw ModelError(
        fmt::format("'{}' is a latent choice in one trace and observed in another", met.text));
  }
  if (!network_.infers() && met.control != control) {
    throw ModelError(
        fmt::format("'{}' is under control in one trace and not in another", met.text));
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
  check_same(node(id, look), entry.role, entry.control);
  if (is_derived(entry)) check_length(node(id, look), entry.value);
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
  std::set<NodeId> lists;  // of which a value has come up
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
    if (input && (!is_list(node(id, look)) || lists.insert(id).second)) ++look.observed[id];
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

}  // namespace psn
