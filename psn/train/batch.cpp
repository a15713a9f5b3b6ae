#include "psn/train/batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "psn/base/error.h"

namespace psn {
namespace {

// Random numbers for the reservoirs: a hash of what they belong to.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

constexpr std::uint64_t kFew = 256;  // values: too few for the value layers to have learned from

std::string site_of(const Node& node) {
  return node.scope + node.base + "\n" + node.type;
}

}  // namespace

Growth::Growth(Network& network, bool inherit) : network_(network), inherit_(inherit) {
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
  if (!network_.infers()) return entry.role != Role::kTag;
  return entry.role == Role::kSample && entry.control && entry.distribution &&
         has_proposal(*entry.distribution);
}

bool Growth::is_input(const Entry& entry) const {
  return network_.infers() && entry.role == Role::kObserve && entry.distribution;
}

NodeId Growth::known(const Entry& entry) const {
  const std::uint32_t id = entry.address->id;
  return id < node_of_.size() ? node_of_[id] : Batch::kNone;
}

NodeId Growth::find_or_add(const Entry& entry) {
  NodeId node = known(entry);
  if (node == Batch::kNone) node = add(entry);
  // A node is one or the other for good.
  const Node& met = network_.node(node);
  if (met.role != entry.role) {
    throw ModelError(fmt::format("'{}' is a latent choice in one trace and observed in another",
                                 entry.address->text));
  }
  if (!network_.infers() && met.control != entry.control) {
    throw ModelError(
        fmt::format("'{}' is under control in one trace and not in another", entry.address->text));
  }
  return node;
}

NodeId Growth::add(const Entry& entry) {
  const Address& address = *entry.address;
  if (entry.role == Role::kFactor) {
    throw InvalidArgument(
        fmt::format("'{}' is a factor: a surrogate learns random choices only", address.text));
  }
  const auto found = network_.find(address, entry.role);
  const NodeId node = found ? *found : network_.add_node(address, entry);
  if (!found) {
    state_.fitted.resize(network_.size(), 0);
    start_as_sibling(node);
  }
  if (address.id >= node_of_.size()) node_of_.resize(address.id + 1, Batch::kNone);
  node_of_[address.id] = node;
  return node;
}

void Growth::measure(NodeId id, const Entry& entry) {
  const Node& node = network_.node(id);
  if (node.value.family == Family::kCategorical) return;
  if (entry.value.size() != node.value.components() || !entry.distribution) {
    throw ModelError(fmt::format("'{}': a value of another form than before", node.text));
  }
  if (id >= state_.estimators.size()) state_.estimators.resize(network_.size());
  ScalingEstimator& estimator = state_.estimators[id];
  estimator.add(entry.value, *entry.distribution, mix(mix(id) + estimator.count()));
}

void Growth::absorb(std::span<const Trace> traces) {
  grow(traces, true);
}
void Growth::learn_names(std::span<const Trace> traces) {
  grow(traces, false);
}

void Growth::grow(std::span<const Trace> traces, bool measures_all) {
  unseen_ = 0;
  const auto given = static_cast<NodeId>(network_.size());
  for (const Trace& trace : traces) {
    NodeId from = Network::kBegin;
    LastIndex last_index;
    bool news = false;
    const auto go = [&](const Place& place) {
      const PlaceId to = network_.add_place(place);
      if (!network_.infers() && !network_.node(from).successor_row.contains(to)) {
        if (from >= new_successors_.size()) new_successors_.resize(network_.size());
        auto& fresh = new_successors_[from];
        if (fresh.empty()) grown_.push_back(from);
        if (std::find(fresh.begin(), fresh.end(), to) == fresh.end()) fresh.push_back(to);
        news = true;
      }
      from = place.node;
    };
    for (const Entry& entry : trace.entries) {
      const bool steps = is_step(entry);
      if (!steps && !is_input(entry)) continue;
      const NodeId node = find_or_add(entry);
      if (measures_all || node >= given) measure(node, entry);
      if (steps) go({node, last_index.step_to(entry.address->variable->index)});
    }
    go({Network::kEnd, {}});
    unseen_ += news;
  }
  for (const NodeId from : grown_) {
    network_.add_successors(from, new_successors_[from]);
    new_successors_[from].clear();
  }
  grown_.clear();
  if (network_.infers()) note_missing(traces);
  refit();
}

// An observation that some traces lack is one that the network learns to do without.
void Growth::note_missing(std::span<const Trace> traces) {
  std::vector<std::size_t> seen(network_.size(), 0);
  for (const Trace& trace : traces) {
    for (const Entry& entry : trace.entries) {
      if (is_input(entry)) ++seen[known(entry)];
    }
  }
  for (NodeId id = 0; id < network_.size(); ++id) {
    if (network_.is_observation(id) && seen[id] < traces.size()) network_.set_may_be_missing(id);
  }
}

void Growth::refit() {
  for (NodeId id = 0; id < state_.estimators.size(); ++id) {
    ScalingEstimator& estimator = state_.estimators[id];
    if (estimator.count() == 0) continue;
    std::uint64_t& fitted = state_.fitted[id];
    if (fitted == GrowthState::kGiven) {
      widen_bounds(id);
      continue;
    }
    const Scaling& now = network_.node(id).scaling;
    if (now.low != estimator.low() || now.high != estimator.high() ||
        now.bounds_vary != estimator.bounds_vary()) {
      network_.set_bounds(id, estimator.low(), estimator.high(), estimator.bounds_vary());
    }
    if (!estimator.due()) continue;
    const Scaling scaling = estimator.fit(network_.node(id).scaling);
    if (fitted == 0) {
      network_.start_scaling(id, scaling);
    } else {
      network_.set_scaling(id, scaling, fitted >= kFew);
    }
    fitted = estimator.count();
  }
}

void Growth::widen_bounds(NodeId id) {
  const ScalingEstimator& seen = state_.estimators[id];
  const Scaling& now = network_.node(id).scaling;
  const double low = std::min(now.low, seen.low()), high = std::max(now.high, seen.high());
  const bool vary =
      now.bounds_vary || seen.bounds_vary() || now.low != seen.low() || now.high != seen.high();
  if (now.low != low || now.high != high || now.bounds_vary != vary) {
    network_.set_bounds(id, low, high, vary);
  }
}

Batch Growth::flatten(std::span<const Trace> traces) const {
  Batch batch;
  const std::size_t count = traces.size();
  std::vector<std::uint32_t> length(count);
  for (std::size_t i = 0; i < count; ++i) {
    length[i] = static_cast<std::uint32_t>(
        std::count_if(traces[i].entries.begin(), traces[i].entries.end(),
                      [this](const Entry& entry) { return is_step(entry); }));
  }
  batch.trace.resize(count);
  std::iota(batch.trace.begin(), batch.trace.end(), 0u);
  std::stable_sort(batch.trace.begin(), batch.trace.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return length[a] > length[b]; });

  const std::size_t steps = count ? length[batch.trace[0]] : 0;
  batch.first.assign(steps + 1, 0);
  for (const std::uint32_t n : length) {
    for (std::uint32_t t = 0; t < n; ++t) ++batch.first[t + 1];
  }
  std::partial_sum(batch.first.begin(), batch.first.end(), batch.first.begin());

  const std::size_t rows = batch.first.back();
  batch.entry.resize(rows);
  batch.node.resize(rows);
  batch.next.resize(rows);
  batch.position.resize(rows);
  batch.next_row.resize(rows);
  batch.first_place.assign(count, Network::kEnd);
  batch.log_p.assign(count, 0);
  for (std::uint32_t at = 0; at < count; ++at) {
    std::uint32_t step = 0;
    LastIndex last_index;
    for (const Entry& entry : traces[batch.trace[at]].entries) {
      if (is_input(entry)) batch.observed.push_back({known(entry), at, &entry});
      if (!is_step(entry)) continue;
      const std::uint32_t row = batch.first[step] + at;
      const NodeId node = known(entry);
      const PlaceId place =
          *network_.find_place({node, last_index.step_to(entry.address->variable->index)});
      batch.entry[row] = &entry;
      batch.node[row] = node;
      batch.position[row] = at;
      batch.next[row] = Network::kEnd;
      batch.next_row[row] = Batch::kNone;
      batch.log_p[at] += entry.log_prob;
      if (step == 0) {
        batch.first_place[at] = place;
      } else {
        const std::uint32_t before = batch.first[step - 1] + at;
        batch.next[before] = place;
        batch.next_row[before] = row;
      }
      ++step;
    }
  }
  sort_by_node(batch);
  return batch;
}

void Growth::sort_by_node(Batch& batch) const {
  std::stable_sort(batch.observed.begin(), batch.observed.end(),
                   [](const auto& a, const auto& b) { return a.node < b.node; });
  std::vector<std::uint32_t> start(network_.size() + 1, 0);
  for (const NodeId node : batch.node) ++start[node + 1];
  std::partial_sum(start.begin(), start.end(), start.begin());
  for (NodeId node = 0; node < network_.size(); ++node) {
    if (start[node] < start[node + 1])
      batch.segments.push_back({node, start[node], start[node + 1]});
  }
  batch.order.resize(batch.rows());
  for (std::uint32_t row = 0; row < batch.rows(); ++row) {
    batch.order[start[batch.node[row]]++] = row;
  }
}

}  // namespace psn
