// Places: where the transitions of a network lead.
//
// Where all indices of a site share its layers, a transition leads to a site and to an index of it.
// The index is said in terms of the trace so far, as a base plus an offset, so that a few places
// serve loops of any length: within a round it is the last index, to the next round one more, back
// in an outer loop one more than the site had before, and zero where a loop starts anew.
//
// In a given trace several places may mean the same. Then the one that was added first is meant:
// what was known keeps its meaning, and so its probability, whatever is added (Theorem 1).
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace psn {

using NodeId = std::uint32_t;

// What an index is counted from.
enum class Base : std::uint8_t {
  kNone,      // the choice has no index, or its node has one of its own
  kLast,      // the last index in the trace, whatever its site; 0 if there was none
  kOwn,       // the last index of the same site; -1 if it had none: one more is the first
  kScope,     // the last index of any site in the same scope; likewise
  kAbsolute,  // 0
};
inline constexpr std::size_t kBases = 5;

struct Place {
  NodeId node = 0;
  Base base = Base::kNone;
  std::int64_t offset = 0;

  auto operator<=>(const Place&) const = default;
};

// What a place means in a given trace.
struct Target {
  NodeId node = 0;
  std::optional<std::int64_t> index;

  auto operator<=>(const Target&) const = default;
};

// By base; nullopt if it is none for this target, or too far away for a number.
using Offsets = std::array<std::optional<std::int64_t>, kBases>;

// The indices of a trace so far. Scopes must outlive it.
class Indices {
 public:
  void clear();
  void pass(const Target& target, std::string_view scope);

  // From any base to a target.
  Offsets to(const Target& target, std::string_view scope) const;
  // And from one base on; nullopt if that is beyond all numbers.
  std::optional<Target> from(const Place& place, std::string_view scope) const;

 private:
  std::int64_t base(Base base, NodeId node, std::string_view scope) const;

  std::int64_t last_ = 0;
  std::unordered_map<NodeId, std::int64_t> own_;
  std::unordered_map<std::string_view, std::int64_t> scope_;
};

// The indices that a site has been seen with, and in how many traces it came as far: a list of
// fixed length ends at the same index again and again, a loop of random length hardly does. What
// lies beyond an end that was never passed in kOften traces is not generated: by the rule of three
// it has at most about 3 / N of the probability in N such traces.
struct IndexRange {
  static constexpr std::uint32_t kOften = 8;

  std::int64_t low = 0, high = 0;
  std::uint32_t low_traces = 0, high_traces = 0;  // counted up to kOften

  // Negative indices are allowed only if there were any.
  bool allows(std::int64_t index) const;
  void include(const IndexRange& other);
  bool operator==(const IndexRange&) const = default;
};

// A transition as it was seen: all the ways in which its index can be said.
struct Step {
  NodeId from = 0, to = 0;
  Offsets offsets;

  auto operator<=>(const Step&) const = default;
};
struct SeenStep {
  Step step;
  std::uint64_t count = 1;
};

// Few places that mean all of the steps, which lead from one node to one other: again and again the
// one that stands for most of those that are left. Where several do, common relations come first,
// then bases that `known`, the places that the steps do not agree with, has few of. So a rare step
// that a first guess was wrong about gets a place of another kind. The order of steps is
// irrelevant.
std::vector<Place> cover(std::span<const SeenStep> steps, std::span<const Place> known);

}  // namespace psn
