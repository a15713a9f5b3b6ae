// Traces as the rows of a batch.
#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "psn/nn/steps.h"
#include "psn/train/growth.h"

namespace psn {

Batch Growth::flatten(std::span<const Trace> traces) const {
  Batch batch;
  const std::size_t count = traces.size();
  std::vector<std::uint32_t> length(count);
  std::vector<Steps> steps_of;
  steps_of.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto& entries = steps_of.emplace_back(traces[i], network_.config().tags).entries;
    length[i] = static_cast<std::uint32_t>(std::count_if(
        entries.begin(), entries.end(), [this](const Entry* entry) { return is_step(*entry); }));
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
  batch.transition.resize(rows);
  batch.position.resize(rows);
  batch.next_row.resize(rows);
  if (network_.recalls()) batch.last_visit.resize(rows);
  std::vector<std::uint32_t> last_visit(network_.recalls() ? network_.size() : 0);
  batch.first_transition.resize(count);
  batch.log_p.assign(count, 0);
  const std::size_t tallied = network_.tally_inputs();
  std::optional<Tally> start;
  if (tallied > 0) {
    start.emplace(*network_.tally());
    batch.tally.resize(rows * tallied);
    batch.first_tally.assign(start->inputs().begin(), start->inputs().end());
  }
  for (std::uint32_t at = 0; at < count; ++at) {
    std::uint32_t step = 0;
    Way way(network_);
    std::optional<Tally> tally = start;
    std::fill(last_visit.begin(), last_visit.end(), Batch::kNone);
    const auto go = [&](const Target& to, std::string_view scope) {
      if (network_.infers()) return;
      (step == 0 ? batch.first_transition[at] : batch.transition[batch.first[step - 1] + at]) =
          *way.row_to(to);
      way.go(to, scope);
    };
    for (const Entry* of : steps_of[batch.trace[at]].entries) {
      const Entry& entry = *of;
      if (is_input(entry)) batch.observed.push_back({known(entry), at, &entry});
      if (!is_step(entry)) continue;
      const std::uint32_t row = batch.first[step] + at;
      const NodeId node = known(entry);
      go(network_.target(node, *entry.address), entry.address->variable->site->scope);
      batch.entry[row] = &entry;
      batch.node[row] = node;
      batch.position[row] = at;
      batch.next_row[row] = Batch::kNone;
      if (network_.recalls()) batch.last_visit[row] = std::exchange(last_visit[node], row);
      batch.log_p[at] += entry.log_prob;
      if (tally) {
        tally->add(network_.node(node).tally_uses, entry.value);
        std::copy_n(tally->inputs().data(), tallied, &batch.tally[row * tallied]);
      }
      if (step > 0) batch.next_row[batch.first[step - 1] + at] = row;
      ++step;
    }
    go({Network::kEnd, {}}, "");
  }
  for (Steps& all : steps_of) {
    if (!all.derived.empty()) batch.derived.push_back(std::move(all.derived));
  }
  sort_by_node(batch);
  return batch;
}

// The values of a list by index, as they will be when inferring.
void Growth::sort_lists(Batch& batch) const {
  auto& observed = batch.observed;
  for (auto begin = observed.begin(), end = begin; begin != observed.end(); begin = end) {
    end = std::find_if(begin, observed.end(), [&](const auto& value) {
      return value.node != begin->node || value.position != begin->position;
    });
    std::stable_sort(begin, end, [](const auto& a, const auto& b) {
      return a.entry->address->variable->index < b.entry->address->variable->index;
    });
  }
}

void Growth::sort_by_node(Batch& batch) const {
  std::stable_sort(batch.observed.begin(), batch.observed.end(),
                   [](const auto& a, const auto& b) { return a.node < b.node; });
  sort_lists(batch);
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
