#include "psn/nn/tally/tally.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace psn {
namespace {

constexpr std::size_t kCircle = 64;  // the longest period

// cos(2 pi k / 64).
double cosine(std::size_t k) {
  static const auto table = [] {
    std::array<double, kCircle> values{};
    for (std::size_t i = 0; i < kCircle; ++i) {
      values[i] = std::cos(2 * std::numbers::pi * static_cast<double>(i) / kCircle);
    }
    return values;
  }();
  return table[k % kCircle];
}

// Where a whole number lies on the circle of a period that divides kCircle.
std::size_t on_circle(double a, double period) {
  const auto p = static_cast<std::int64_t>(period);
  const std::int64_t rest = static_cast<std::int64_t>(a) % p;
  return static_cast<std::size_t>((rest + p) % p) * kCircle / static_cast<std::size_t>(p);
}

double with_compressed_tails(double u) {
  constexpr double kLinearTo = 4, kLargest = 1e30;
  const double size = std::min(std::abs(u), kLargest);
  return size <= kLinearTo ? u : std::copysign(kLinearTo * (1 + std::log(size / kLinearTo)), u);
}

double input_of(const TallyInput& input, const TallyCounts& counts) {
  if (input.measure == Measure::kLast && counts.empty()) return 0;
  const double a = counts.measure(input.measure, input.which);
  if (std::isnan(a)) return 0;  // of infinite sums
  switch (input.form) {
    case Form::kLogarithm:
      return std::copysign(std::log1p(std::abs(a)), a);
    case Form::kCosine:
      return cosine(on_circle(a, input.scale));
    case Form::kSine:
      return cosine(on_circle(a, input.scale) + kCircle * 3 / 4);
    case Form::kRamp:
      return 4 * std::clamp((a - input.location) / input.scale, -1.0, 1.0);
    case Form::kLinear:
      break;
  }
  return with_compressed_tails((a - input.location) / input.scale);
}

}  // namespace

TallyType tally_type(const ValueType& value) {
  if (!value.shape.empty()) return {};
  if (value.family == family_of<Bernoulli>) return {TallyKind::kCategories, 2};
  if (value.family != family_of<Categorical>) return {TallyKind::kNumber, 0};
  if (value.categories > kMostTalliedCategories) return {};
  return {TallyKind::kCategories, value.categories};
}

double tally_value(const TallyType& type, const Value& value) {
  return type.kind == TallyKind::kVisits ? 0 : value.scalar();
}

namespace {

// Values of the second site count in a pair, and those of a clock.
double other_value(const TallySource& source, TallyPart part, const Value& value) {
  const bool counts = part == TallyPart::kClock || source.kind == SourceKind::kPair;
  return counts && value.size() == 1 ? value.scalar() : 0;
}

}  // namespace

std::size_t TallyPlan::inputs() const {
  std::size_t count = 0;
  for (const TallySource& source : sources) count += source.inputs.size();
  return count;
}

std::vector<TallyUse> tally_uses(std::span<const TallySource> sources, std::string_view site) {
  std::vector<TallyUse> uses;
  for (std::uint32_t i = 0; i < sources.size(); ++i) {
    if (sources[i].clock == site) uses.push_back({i, TallyPart::kClock});
    if (sources[i].site == site) uses.push_back({i, TallyPart::kSite});
    if (sources[i].other == site) uses.push_back({i, TallyPart::kOther});
  }
  return uses;
}

void TallyCounts::sum_up(double value) {
  sum_ += value;
  highest_ = std::max(highest_, sum_);
  lowest_ = std::min(lowest_, sum_);
}

void TallyCounts::count(const TallyType& type, double value) {
  ++visits_;
  if (type.kind == TallyKind::kNumber) {
    last_ = value;
    sum_up(value);
  } else if (type.kind == TallyKind::kCategories) {
    const auto category = static_cast<std::size_t>(value);
    if (category < type.categories) ++categories_[category];
  }
}

std::size_t TallyCounts::window(double number) const {
  return static_cast<std::size_t>(std::clamp(number, 0.0, kMostWindows - 1.0));
}

void TallyCounts::add(const TallySource& source, TallyPart part, double value) {
  if (part == TallyPart::kSite && source.kind != SourceKind::kWindows) {
    return count(source.type, value);
  }
  switch (source.kind) {
    case SourceKind::kSite:
      break;
    case SourceKind::kPair:
      --visits_;
      sum_up(-value);
      break;
    case SourceKind::kSteps:
      sum_up(-source.step);
      break;
    case SourceKind::kSince:
      *this = {};
      break;
    case SourceKind::kWindows:
      windows_.resize(kMostWindows);
      if (part == TallyPart::kClock) {
        sum_ += value;
      } else if (part == TallyPart::kSite) {
        ++visits_;
        const auto category = static_cast<std::size_t>(value);
        if (category < source.type.categories) {
          ++windows_[window(sum_ / source.step)][category];
        }
      } else {
        ++number_;
      }
      categories_ = windows_[window(number_)];
      break;
  }
}

double TallyCounts::measure(Measure measure, std::uint32_t which) const {
  switch (measure) {
    case Measure::kVisits:
      return visits_;
    case Measure::kSeen:
      return visits_ > 0 ? 1 : 0;
    case Measure::kCount:
      return categories_[which];
    case Measure::kDifference: {
      double difference = 0;
      for (std::size_t k = 0; k < categories_.size(); ++k) {
        if (which >> (k + kMostTalliedCategories) & 1) continue;
        difference += which >> k & 1 ? -categories_[k] : categories_[k];
      }
      return difference;
    }
    case Measure::kSum:
      return sum_;
    case Measure::kLast:
      return last_;
    case Measure::kHighest:
      return highest_;
    case Measure::kLowest:
      return lowest_;
    case Measure::kFall:
      return highest_ - sum_;
    case Measure::kRise:
      return sum_ - lowest_;
  }
  return 0;
}

Tally::Tally(const TallyPlan& plan)
    : plan_(&plan), counts_(plan.sources.size()), inputs_(plan.inputs()) {
  std::uint32_t first = 0;
  for (const TallySource& source : plan.sources) {
    first_.push_back(first);
    first += static_cast<std::uint32_t>(source.inputs.size());
  }
  restart();
}

void Tally::restart() {
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    counts_[i] = {};
    refresh(i);
  }
}

void Tally::add(std::span<const TallyUse> uses, const Value& value) {
  for (const TallyUse& use : uses) {
    const TallySource& source = plan_->sources[use.source];
    counts_[use.source].add(source, use.part,
                            use.part == TallyPart::kSite ? tally_value(source.type, value)
                                                         : other_value(source, use.part, value));
    refresh(use.source);
  }
}

void Tally::refresh(std::size_t source) {
  float* out = inputs_.data() + first_[source];
  for (const TallyInput& input : plan_->sources[source].inputs) {
    *out++ = static_cast<float>(input_of(input, counts_[source]));
  }
}

}  // namespace psn
