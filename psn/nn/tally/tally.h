// Tally: what the runtime counts of a trace so far, as inputs of a surrogate: how often a site was
// visited, how often each category came up, running sums, last values. Programs that run event by
// event decide by such numbers, and a network would have to learn to count.
//
// A plan says what is counted and how it becomes inputs. It is fitted once to the first traces of a
// training (psn/nn/tally/fit.h) and never changes after that: another scale would change what is
// known. Training, execution and evaluation all use these classes, so they see the same numbers.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "psn/nn/heads/head.h"

namespace psn {

// What the values of a site are to a tally.
enum class TallyKind : std::uint8_t {
  kVisits,      // nothing but that they came up: vectors, many categories
  kCategories,  // few enough to be counted one by one
  kNumber,
};
inline constexpr std::uint32_t kMostTalliedCategories = 4;

struct TallyType {
  TallyKind kind = TallyKind::kVisits;
  std::uint32_t categories = 0;

  bool operator==(const TallyType&) const = default;
};
TallyType tally_type(const ValueType& value);

// What is counted of a source.
enum class Measure : std::uint8_t {
  kVisits,
  kSeen,        // 1 once it was visited
  kCount,       // of one category
  kDifference,  // of the counts of some categories and those of the others
  kSum,
  kLast,
  kHighest,  // the largest running sum so far, that of no value included; and the smallest
  kLowest,
  kFall,  // from the highest sum to the present one; and the rise from the lowest
  kRise,
};
inline constexpr std::size_t kMeasures = 10;

// How a measure a becomes an input.
enum class Form : std::uint8_t {
  kLogarithm,  // log(1 + |a|), with the sign of a
  kLinear,     // u = (a - location) / scale, beyond +-4 logarithmic: outliers stay in sight
  kCosine,     // of 2 pi a / scale; scale is a power of two up to 64
  kSine,
  kRamp,  // 4 u, cut off at +-4: a threshold
};
inline constexpr std::size_t kForms = 5;

// Which categories count negatively in a difference, and which not at all: a bit for each.
constexpr std::uint32_t difference_of(std::uint32_t negative, std::uint32_t absent) {
  return negative | absent << kMostTalliedCategories;
}

struct TallyInput {
  Measure measure = Measure::kVisits;
  std::uint32_t which = 0;  // of kCount: the category; of kDifference: see difference_of()
  Form form = Form::kLinear;
  double location = 0, scale = 1;

  bool operator==(const TallyInput&) const = default;
};

// What a source counts.
enum class SourceKind : std::uint8_t {
  kSite,     // the choices of a site
  kPair,     // those of a site and, negatively, those of another one
  kSteps,    // the values of a site, less a step for each choice of another one: by how much a
             // clock is beyond the last of some regular dates
  kSince,    // the choices of a site since the last one of another
  kWindows,  // the choices of a site in one of the windows that a clock, the running sum of a
             // second site, is divided into: that whose number is the visits of a third
};
inline constexpr std::size_t kSourceKinds = 5;
inline constexpr std::size_t kMostWindows = 64;  // the last one has no end

struct TallySource {
  SourceKind kind = SourceKind::kSite;
  std::string site, other, clock;  // texts of sites; empty where the kind has none
  double step = 0;                 // of kSteps, and the length of windows
  TallyType type;                  // of the site
  std::vector<TallyInput> inputs;

  bool operator==(const TallySource&) const = default;
};

struct TallyPlan {
  std::vector<TallySource> sources;

  std::size_t inputs() const;
  bool operator==(const TallyPlan&) const = default;
};

// A part that the choices of a site have in a source.
enum class TallyPart : std::uint8_t { kSite, kOther, kClock };
struct TallyUse {
  std::uint32_t source;
  TallyPart part;
};
std::vector<TallyUse> tally_uses(std::span<const TallySource> sources, std::string_view site);

// What has been counted of one source.
class TallyCounts {
 public:
  void add(const TallySource& source, TallyPart part, double value);
  double measure(Measure measure, std::uint32_t which) const;
  bool empty() const { return visits_ == 0; }

 private:
  using Categories = std::array<double, kMostTalliedCategories>;
  void count(const TallyType& type, double value);
  void sum_up(double value);
  std::size_t window(double number) const;

  double visits_ = 0, sum_ = 0, last_ = 0, highest_ = 0, lowest_ = 0;
  double number_ = 0;  // of windows: the visits of the third site
  Categories categories_{};
  std::vector<Categories> windows_;
};
// A number for `value` as add() takes it; for a clock or a pair the value itself.
double tally_value(const TallyType& type, const Value& value);

// Of one trace. Copies go on by themselves; the plan must outlive them.
class Tally {
 public:
  explicit Tally(const TallyPlan& plan);

  // As before the first choice.
  void restart();
  // A choice of a site with these uses was made.
  void add(std::span<const TallyUse> uses, const Value& value);
  std::span<const float> inputs() const { return inputs_; }

 private:
  void refresh(std::size_t source);

  const TallyPlan* plan_;
  std::vector<TallyCounts> counts_;   // by source
  std::vector<std::uint32_t> first_;  // by source: its first input
  std::vector<float> inputs_;
};

}  // namespace psn
