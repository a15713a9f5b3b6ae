#include "psn/infer/replay.h"

#include <algorithm>
#include <numeric>

namespace psn {
namespace {

bool is_choice(const Entry& entry) {
  return entry.role == Role::kSample || entry.role == Role::kObserve;
}

bool is_chosen(const Entry& entry) {
  return entry.role == Role::kSample && entry.control && !entry.given;
}

}  // namespace

void ReplayGuide::begin(Slot slot, const Ticket& ticket) {
  if (slot >= cursors_.size()) cursors_.resize(slot + 1);
  cursors_[slot] = {trace_of_(slot, ticket), 0};
}

void ReplayGuide::choose(std::span<const Pending> requests, std::span<Choice> choices) {
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const Entry* entry = next(cursors_[requests[i].slot]);
    if (entry && entry->address->text == requests[i].address->text) {
      choices[i] = {entry->value, 0.0};
    } else {
      choices[i] = {requests[i].distribution->draw(*requests[i].rng), std::nullopt};
    }
  }
}

const Entry* ReplayGuide::next(Cursor& cursor) {
  if (!cursor.trace) return nullptr;
  const auto& entries = cursor.trace->entries;
  while (cursor.at < entries.size()) {
    const Entry& entry = entries[cursor.at++];
    if (is_chosen(entry)) return &entry;
  }
  return nullptr;
}

bool same_path(const Trace& a, const Trace& b) {
  auto i = a.entries.begin(), j = b.entries.begin();
  for (;; ++i, ++j) {
    i = std::find_if(i, a.entries.end(), is_choice);
    j = std::find_if(j, b.entries.end(), is_choice);
    if (i == a.entries.end() || j == b.entries.end()) break;
    if (i->address->text != j->address->text) return false;
  }
  return i == a.entries.end() && j == b.entries.end();
}

double log_density(const Trace& trace) {
  return std::accumulate(
      trace.entries.begin(), trace.entries.end(), trace.log_likelihood,
      [](double sum, const Entry& entry) { return is_chosen(entry) ? sum + entry.log_prob : sum; });
}

}  // namespace psn
