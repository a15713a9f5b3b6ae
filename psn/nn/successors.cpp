#include "psn/nn/successors.h"

#include <algorithm>
#include <unordered_map>

#include "psn/base/numerics.h"

namespace psn {
namespace {

std::optional<Target> meaning(const Network& network, const Place& place, const Indices& indices) {
  return indices.from(place, network.node(place.node).scope);
}

bool within_range(const Network& network, const Target& target) {
  const auto& range = network.node(target.node).range;
  return !target.index || !range || range->allows(*target.index);
}

// Of rows that mean the same.
void leave_first_of_each(const std::vector<std::uint32_t>& rows, Targets& targets) {
  std::vector<std::pair<std::optional<Target>, std::uint32_t>> sorted;
  sorted.reserve(rows.size());
  for (const std::uint32_t row : rows) sorted.emplace_back(targets[row], row);
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    if (sorted[i].first == sorted[i - 1].first) targets[sorted[i].second].reset();
  }
}

// In the order in which they first come up.
template <class Id, class Value>
class Groups {
 public:
  std::vector<Value>& operator[](Id id) {
    const auto [known, is_new] = numbers_.try_emplace(id, groups_.size());
    if (is_new) groups_.emplace_back(id, std::vector<Value>());
    return groups_[known->second].second;
  }
  auto begin() const { return groups_.begin(); }
  auto end() const { return groups_.end(); }

 private:
  std::unordered_map<Id, std::size_t> numbers_;
  std::vector<std::pair<Id, std::vector<Value>>> groups_;
};

}  // namespace

std::optional<std::uint32_t> Way::row_to(const Target& to) const {
  if (at_ >= network_.size() || to.node >= network_.size()) return std::nullopt;
  const Node& node = network_.node(at_);
  const auto rows = node.rows_to.find(to.node);
  if (rows == node.rows_to.end()) return std::nullopt;
  for (const std::uint32_t row : rows->second) {
    if (meaning(network_, node.successors[row - 1], indices_) == to) return row;
  }
  return std::nullopt;
}

Step Way::step_to(const Target& to, std::string_view scope) const {
  return {at_, to.node, indices_.to(to, scope)};
}

void Way::go(const Target& to, std::string_view scope) {
  indices_.pass(to, scope);
  at_ = to.node;
}

void find_targets(const Network& network, NodeId from, const Indices& indices, Targets& targets) {
  const Node& node = network.node(from);
  targets.assign(1, std::nullopt);
  for (const Place& place : node.successors) {
    targets.push_back(meaning(network, place, indices));
  }
  if (!network.shares_indices()) return;
  for (const auto& [to, rows] : node.rows_to) {
    if (rows.size() > 1) leave_first_of_each(rows, targets);
  }
  const auto allowed = [&](const auto& t) { return t && within_range(network, *t); };
  if (std::none_of(targets.begin(), targets.end(), allowed)) return;
  for (auto& target : targets) {
    if (!allowed(target)) target.reset();
  }
}

void mask(std::span<const float> logits, const Targets& targets, std::vector<float>& possible) {
  possible.assign(logits.begin(), logits.end());
  for (std::size_t row = 0; row < logits.size(); ++row) {
    if (!targets[row]) possible[row] = static_cast<float>(-kInfinity);
  }
}

void add_transitions(Network& network, std::span<const SeenStep> steps) {
  Groups<NodeId, SeenStep> by_from;
  for (const SeenStep& seen : steps) by_from[seen.step.from].push_back(seen);
  for (const auto& [from, leaving] : by_from) {
    Groups<NodeId, SeenStep> by_target;
    for (const SeenStep& seen : leaving) by_target[seen.step.to].push_back(seen);
    std::vector<Place> added;
    for (const auto& [to, seen] : by_target) {
      std::vector<Place> known;
      const auto& rows = network.node(from).rows_to;
      if (const auto found = rows.find(to); found != rows.end()) {
        for (const auto row : found->second) {
          known.push_back(network.node(from).successors[row - 1]);
        }
      }
      for (const Place& place : cover(seen, known)) added.push_back(place);
    }
    network.add_successors(from, added);
  }
}

}  // namespace psn
