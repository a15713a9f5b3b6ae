#include "psn/nn/places.h"

#include <algorithm>
#include <limits>
#include <map>
#include <queue>
#include <tuple>

namespace psn {
namespace {

template <class Map, class Key>
std::int64_t found_or_before_first(const Map& map, const Key& key) {
  const auto found = map.find(key);
  return found == map.end() ? -1 : found->second;
}

// What programs do most, first.
constexpr std::array<std::pair<Base, std::int64_t>, 10> kCommon{{{Base::kNone, 0},
                                                                 {Base::kLast, 0},
                                                                 {Base::kLast, 1},
                                                                 {Base::kOwn, 1},
                                                                 {Base::kOwn, 0},
                                                                 {Base::kScope, 0},
                                                                 {Base::kScope, 1},
                                                                 {Base::kAbsolute, 0},
                                                                 {Base::kLast, -1},
                                                                 {Base::kOwn, -1}}};
constexpr std::array kOthers{Base::kAbsolute, Base::kOwn, Base::kLast, Base::kScope};

// The lower, the sooner a place is chosen among those that stand for as many steps.
class Preference {
 public:
  explicit Preference(std::span<const Place> known) {
    for (const Place& place : known) ++used_[static_cast<std::size_t>(place.base)];
  }

  std::size_t operator()(const Place& place) const {
    const auto* common =
        std::find(kCommon.begin(), kCommon.end(), std::pair(place.base, place.offset));
    if (common != kCommon.end()) return static_cast<std::size_t>(common - kCommon.begin());
    const auto* other = std::find(kOthers.begin(), kOthers.end(), place.base);
    return kCommon.size() + kOthers.size() * used_[static_cast<std::size_t>(place.base)] +
           static_cast<std::size_t>(other - kOthers.begin());
  }

 private:
  std::array<std::size_t, kBases> used_{};
};

template <class Visit>
void each_place(const Step& step, const Visit& visit) {
  for (std::size_t base = 0; base < kBases; ++base) {
    if (step.offsets[base]) visit(Place{step.to, static_cast<Base>(base), *step.offsets[base]});
  }
}

std::uint64_t distance(std::int64_t offset) {
  return offset < 0 ? 0 - static_cast<std::uint64_t>(offset) : static_cast<std::uint64_t>(offset);
}

}  // namespace

void Indices::clear() {
  last_ = 0;
  own_.clear();
  scope_.clear();
}

void Indices::pass(const Target& target, std::string_view scope) {
  if (!target.index) return;
  last_ = own_[target.node] = scope_[scope] = *target.index;
}

std::int64_t Indices::base(Base base, NodeId node, std::string_view scope) const {
  switch (base) {
    case Base::kLast:
      return last_;
    case Base::kOwn:
      return found_or_before_first(own_, node);
    case Base::kScope:
      return found_or_before_first(scope_, scope);
    case Base::kNone:
    case Base::kAbsolute:
      break;
  }
  return 0;
}

Offsets Indices::to(const Target& target, std::string_view scope) const {
  Offsets offsets;
  if (!target.index) {
    offsets[static_cast<std::size_t>(Base::kNone)] = 0;
    return offsets;
  }
  for (const Base kind : {Base::kLast, Base::kOwn, Base::kScope, Base::kAbsolute}) {
    std::int64_t offset = 0;
    if (!__builtin_sub_overflow(*target.index, base(kind, target.node, scope), &offset)) {
      offsets[static_cast<std::size_t>(kind)] = offset;
    }
  }
  return offsets;
}

std::optional<Target> Indices::from(const Place& place, std::string_view scope) const {
  if (place.base == Base::kNone) return Target{place.node, {}};
  std::int64_t index = 0;
  if (__builtin_add_overflow(base(place.base, place.node, scope), place.offset, &index)) {
    return std::nullopt;
  }
  return Target{place.node, index};
}

bool IndexRange::allows(std::int64_t index) const {
  if (index > high) return high_traces < kOften;
  if (index >= low) return true;
  return low_traces < kOften && (index >= 0 || low < 0);
}

void IndexRange::include(const IndexRange& other) {
  const auto merge = [](std::int64_t& end, std::uint32_t& traces, std::int64_t other_end,
                        std::uint32_t other_traces, bool is_farther) {
    if (is_farther) {
      end = other_end;
      traces = other_traces;
    } else if (end == other_end) {
      traces = std::min(kOften, traces + other_traces);
    }
  };
  merge(low, low_traces, other.low, other.low_traces, other.low < low);
  merge(high, high_traces, other.high, other.high_traces, other.high > high);
}

std::vector<Place> cover(std::span<const SeenStep> steps, std::span<const Place> known) {
  struct Candidate {
    std::uint64_t count = 0;  // of steps that are left
    std::vector<std::size_t> steps;
  };
  std::map<Place, Candidate> candidates;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    each_place(steps[i].step, [&](const Place& place) {
      Candidate& candidate = candidates[place];
      candidate.count += steps[i].count;
      candidate.steps.push_back(i);
    });
  }
  // The best on top; counts only fall, so one that has fallen goes back in when it comes up.
  const Preference preference(known);
  using Key = std::tuple<std::uint64_t, std::size_t, std::uint64_t, bool>;
  const auto key = [&](const Place& place, std::uint64_t count) {
    return Key(std::numeric_limits<std::uint64_t>::max() - count, preference(place),
               distance(place.offset), place.offset < 0);
  };
  std::priority_queue<std::pair<Key, Place>, std::vector<std::pair<Key, Place>>, std::greater<>>
      queue;
  for (const auto& [place, candidate] : candidates)
    queue.emplace(key(place, candidate.count), place);

  std::vector<Place> chosen;
  std::vector<bool> covered(steps.size());
  while (!queue.empty()) {
    const auto [was, place] = queue.top();
    queue.pop();
    const Candidate& candidate = candidates[place];
    if (candidate.count == 0) continue;
    if (was != key(place, candidate.count)) {
      queue.emplace(key(place, candidate.count), place);
      continue;
    }
    chosen.push_back(place);
    for (const std::size_t i : candidate.steps) {
      if (covered[i]) continue;
      covered[i] = true;
      each_place(steps[i].step, [&](const Place& p) { candidates[p].count -= steps[i].count; });
    }
  }
  return chosen;
}

}  // namespace psn
