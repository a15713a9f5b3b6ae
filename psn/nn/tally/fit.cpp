#include "psn/nn/tally/fit.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "psn/nn/tally/parts.h"

namespace psn {
namespace {

constexpr std::size_t kMostStumps = 32;

struct Spread {
  double squares = 0, count = 0;
  void add(double a) {
    squares += a * a;
    ++count;
  }
  double rms() const { return count > 0 ? std::sqrt(squares / count) : 0; }
};

// Of all measures of a source.
class Spreads {
 public:
  void add(const TallyCounts& counts) {
    for (std::size_t m = 0; m < measures_.size(); ++m) {
      measures_[m].add(counts.measure(static_cast<Measure>(m), 0));
    }
    for (std::uint32_t k = 0; k < categories_.size(); ++k) {
      categories_[k].add(counts.measure(Measure::kCount, k));
    }
    for (std::uint32_t which = 0; which < differences_.size(); ++which) {
      differences_[which].add(counts.measure(Measure::kDifference, which));
    }
  }
  double rms(Measure measure, std::uint32_t which) const {
    if (measure == Measure::kCount) return categories_[which].rms();
    if (measure == Measure::kDifference) return differences_[which].rms();
    return measures_[static_cast<std::size_t>(measure)].rms();
  }

 private:
  std::array<Spread, kMeasures> measures_;
  std::array<Spread, kMostTalliedCategories> categories_;
  std::array<Spread, 1 << 2 * kMostTalliedCategories> differences_;
};

// How far measures of a source go: at the ends of traces, or on the way if that is farther. And how
// the values of its site lie.
class Scales {
 public:
  Scales(const TallySample& sample, const TallySource& source) {
    TallyVisits visits;
    visits.after = [&](std::size_t at, std::span<const TallyCounts> counts) {
      on_the_way_.add(counts[0]);
      most_visits = std::max(most_visits, std::abs(counts[0].measure(Measure::kVisits, 0)));
      if (sample.sites()[sample.at()[at]].text == source.site) {
        values_.push_back(sample.values()[at]);
      }
    };
    visits.end = [&](std::span<const TallyCounts> counts) { at_the_end_.add(counts[0]); };
    replay(sample, {&source, 1}, visits);
  }

  double rms(Measure measure, std::uint32_t which) const {
    return std::max(on_the_way_.rms(measure, which), at_the_end_.rms(measure, which));
  }
  // Median and interquartile range, as a deviation; the whole range if that is nothing.
  std::pair<double, double> values() {
    std::sort(values_.begin(), values_.end());
    const auto at = [&](double share) {
      return values_[static_cast<std::size_t>(share * static_cast<double>(values_.size() - 1))];
    };
    const double scale = (at(0.75) - at(0.25)) / 1.349;
    return {at(0.5), scale > 0 ? scale : values_.back() - values_.front()};
  }

  double most_visits = 0;

 private:
  Spreads on_the_way_, at_the_end_;
  std::vector<double> values_;
};

class Inputs {
 public:
  Inputs(const TallySample& sample, const TallySource& source)
      : source_(source), type_(source.type), scales_(sample, source) {}

  std::vector<TallyInput> of_repeated(const std::vector<std::uint32_t>& differences) {
    logarithm(Measure::kVisits);
    if (type_.kind != TallyKind::kCategories) linear(Measure::kVisits);  // else the counts' sum
    if (type_.kind == TallyKind::kNumber) {
      linear(Measure::kSum);
      last();
    }
    counts();
    for (const std::uint32_t which : differences) difference(which);
    return std::move(inputs_);
  }

  std::vector<TallyInput> of_single() {
    last();
    inputs_.push_back({Measure::kSeen});
    return std::move(inputs_);
  }

  std::vector<TallyInput> of_several() {
    if (source_.kind == SourceKind::kPair) {
      if (scales_.most_visits > 1) linear(Measure::kVisits);
      for (const Measure m : {Measure::kSum, Measure::kFall, Measure::kRise}) linear(m);
    } else if (source_.kind == SourceKind::kSteps) {
      linear(Measure::kSum);
    } else {
      counts();
    }
    return std::move(inputs_);
  }

 private:
  void logarithm(Measure measure, std::uint32_t which = 0) {
    if (positive(scales_.rms(measure, which))) {
      inputs_.push_back({measure, which, Form::kLogarithm});
    }
  }
  void linear(Measure measure, std::uint32_t which = 0) {
    const double scale = scales_.rms(measure, which);
    if (positive(scale)) inputs_.push_back({measure, which, Form::kLinear, 0, scale});
  }
  void last() {
    const auto [location, scale] = scales_.values();
    if (std::isfinite(location) && positive(scale)) {
      inputs_.push_back({Measure::kLast, 0, Form::kLinear, location, scale});
    }
  }
  void counts() {
    for (std::uint32_t k = 0; k < type_.categories; ++k) {
      logarithm(Measure::kCount, k);
      linear(Measure::kCount, k);
    }
  }
  void difference(std::uint32_t which) {
    if (!positive(scales_.rms(Measure::kDifference, which))) return;
    logarithm(Measure::kDifference, which);
    linear(Measure::kDifference, which);
    for (double period = 2; period <= 64; period *= 2) {
      inputs_.push_back({Measure::kDifference, which, Form::kCosine, 0, period});
      if (period == 2) continue;  // its sine is 0
      inputs_.push_back({Measure::kDifference, which, Form::kSine, 0, period});
    }
  }
  static bool positive(double scale) { return scale > 0 && std::isfinite(scale); }

  const TallySource& source_;
  TallyType type_;
  Scales scales_;
  std::vector<TallyInput> inputs_;
};

}  // namespace

TallyPlan fit_tally(const TallySample& sample) {
  Candidates candidates(sample);
  std::vector<TallySource>& sources = candidates.sources;
  if (sources.empty()) return {};
  std::vector<TallyStump> stumps = fit_stumps(sample, sources);
  if (stumps.size() > kMostStumps) stumps.resize(kMostStumps);
  const auto differences = best_differences(sample, sources);
  std::size_t left = kMostTallyInputs - stumps.size();
  for (std::uint32_t i = 0; i < sources.size(); ++i) {
    const auto decides = [i](const TallyStump& stump) { return stump.source == i; };
    // A clock's dates are worth having only if something happens by them.
    if (sources[i].kind == SourceKind::kSteps &&
        std::none_of(stumps.begin(), stumps.end(), decides)) {
      continue;
    }
    Inputs inputs(sample, sources[i]);
    auto chosen = i < candidates.repeated  ? inputs.of_repeated(differences[i])
                  : i < candidates.singles ? inputs.of_single()
                                           : inputs.of_several();
    if (chosen.size() > left) chosen.resize(left);
    left -= chosen.size();
    sources[i].inputs = std::move(chosen);
  }
  for (const TallyStump& stump : stumps) sources[stump.source].inputs.push_back(stump.input);
  std::erase_if(sources, [](const TallySource& source) { return source.inputs.empty(); });
  return {std::move(sources)};
}

}  // namespace psn
