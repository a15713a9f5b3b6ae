// Thresholds by which a program decides where to go next.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "psn/nn/tally/parts.h"

namespace psn {
namespace {

constexpr std::size_t kMostVisits = 1 << 15;  // of one site that are looked at
constexpr std::size_t kFewest = 10;           // visits that must go either way
constexpr int kDeepest = 3;                   // thresholds for one site and one that comes next
constexpr double kExplained = 0.3;            // of the entropy, at least

// Of n visits of which k go one way, in nats.
double entropy(double k, double n) {
  const auto part = [n](double x) { return x > 0 ? -x * std::log(x / n) : 0.0; };
  return part(k) + part(n - k);
}

struct Column {  // one measure of one source, by visit
  std::uint32_t source;
  Measure measure;
  std::uint32_t which;
  std::vector<float> values;
  std::vector<std::uint32_t> order;  // visits by value
};

std::vector<Column> columns_of(std::span<const TallySource> sources) {
  std::vector<Column> columns;
  for (std::uint32_t i = 0; i < sources.size(); ++i) {
    const auto add = [&](Measure measure, std::uint32_t which = 0) {
      columns.push_back({i, measure, which, {}, {}});
    };
    const std::uint32_t categories = sources[i].type.categories;
    const SourceKind kind = sources[i].kind;
    if (kind == SourceKind::kSteps) {
      add(Measure::kSum);
      continue;
    }
    if (kind != SourceKind::kWindows) add(Measure::kVisits);
    for (std::uint32_t k = 0; k < categories; ++k) add(Measure::kCount, k);
    if (kind == SourceKind::kSite) {
      for (const std::uint32_t which : differences_of(categories)) add(Measure::kDifference, which);
    }
    if (sources[i].type.kind != TallyKind::kNumber) continue;
    add(Measure::kSum);
    if (kind == SourceKind::kSite) add(Measure::kLast);
    if (kind != SourceKind::kPair) continue;
    add(Measure::kFall);
    add(Measure::kRise);
  }
  return columns;
}

struct Split {
  std::size_t column = 0;
  double low = 0, high = 0;  // the neighbours between which it lies
  double gain = 0;           // in nats
};

// The visits of one site, and where the traces went from there.
class Departures {
 public:
  Departures(const TallySample& sample, std::span<const TallySource> sources, std::uint32_t from)
      : columns_(columns_of(sources)) {
    collect(sample, sources, from);
  }

  // In the order of the sites that come next; the end is last.
  std::vector<TallyStump> stumps(std::size_t sites) {
    std::vector<TallyStump> found;
    std::vector<std::size_t> counts(sites + 1);
    for (const std::uint32_t to : to_) ++counts[to];
    for (std::uint32_t to = 0; to <= sites; ++to) {
      if (!is_open(counts[to], to_.size())) continue;
      sort();
      for (const Split& split : splits(to)) found.push_back(as_ramp(split));
    }
    return found;
  }

 private:
  static bool is_open(std::size_t k, std::size_t n) { return k >= kFewest && n - k >= kFewest; }

  void collect(const TallySample& sample, std::span<const TallySource> sources,
               std::uint32_t from) {
    const auto end = static_cast<std::uint32_t>(sample.sites().size());
    bool left = false;  // the last choice was one of `from`
    const auto came_to = [&](std::uint32_t site) {
      if (left) to_.push_back(site);
      left = false;
    };
    TallyVisits visits;
    visits.before = [&](std::size_t at, auto) { came_to(sample.at()[at]); };
    visits.after = [&](std::size_t at, std::span<const TallyCounts> counts) {
      left = sample.at()[at] == from && to_.size() < kMostVisits;
      if (!left) return;
      for (Column& column : columns_) {
        const double a = counts[column.source].measure(column.measure, column.which);
        column.values.push_back(static_cast<float>(std::isfinite(a) ? a : 0));
      }
    };
    visits.end = [&](auto) { came_to(end); };
    replay(sample, sources, visits);
  }

  void sort() {
    for (Column& column : columns_) {
      if (!column.order.empty()) continue;
      column.order.resize(to_.size());
      std::iota(column.order.begin(), column.order.end(), 0u);
      std::stable_sort(
          column.order.begin(), column.order.end(),
          [&](std::uint32_t a, std::uint32_t b) { return column.values[a] < column.values[b]; });
    }
  }

  // One threshold after the other, each on the side of the last where there is more doubt.
  std::vector<Split> splits(std::uint32_t to) const {
    std::vector<Split> found;
    std::vector<char> inside(to_.size(), 1);
    while (found.size() < kDeepest) {
      std::size_t n = 0, k = 0;
      for (std::size_t i = 0; i < to_.size(); ++i) {
        n += inside[i] != 0;
        k += inside[i] != 0 && to_[i] == to;
      }
      if (!is_open(k, n)) break;
      const double doubt = entropy(static_cast<double>(k), static_cast<double>(n));
      const auto best = best_split(to, inside, k, n, doubt);
      if (!best || best->gain < kExplained * doubt) break;
      found.push_back(*best);
      keep_doubtful_side(*best, to, inside);
    }
    return found;
  }

  std::optional<Split> best_split(std::uint32_t to, const std::vector<char>& inside, std::size_t k,
                                  std::size_t n, double doubt) const {
    std::optional<Split> best;
    const auto all = static_cast<double>(n), going = static_cast<double>(k);
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const Column& column = columns_[c];
      double below = 0, going_below = 0;
      std::optional<float> last;
      for (const std::uint32_t visit : column.order) {
        if (!inside[visit]) continue;
        const float value = column.values[visit];
        if (last && value > *last) {
          const double gain =
              doubt - entropy(going_below, below) - entropy(going - going_below, all - below);
          if (gain > (best ? best->gain : 0) * (1 + 1e-9)) best = {c, *last, value, gain};
        }
        last = value;
        ++below;
        going_below += to_[visit] == to;
      }
    }
    return best;
  }

  void keep_doubtful_side(const Split& split, std::uint32_t to, std::vector<char>& inside) const {
    const std::vector<float>& values = columns_[split.column].values;
    double n[2] = {}, k[2] = {};
    const auto side = [&](std::size_t visit) { return values[visit] > split.low ? 1 : 0; };
    for (std::size_t i = 0; i < to_.size(); ++i) {
      if (!inside[i]) continue;
      ++n[side(i)];
      k[side(i)] += to_[i] == to;
    }
    const int kept = entropy(k[1], n[1]) > entropy(k[0], n[0]) ? 1 : 0;
    for (std::size_t i = 0; i < to_.size(); ++i) inside[i] &= side(i) == kept;
  }

  // At its ends where the neighbours lie.
  TallyStump as_ramp(const Split& split) const {
    const Column& column = columns_[split.column];
    return {column.source,
            {column.measure, column.which, Form::kRamp, (split.low + split.high) / 2,
             (split.high - split.low) / 2},
            split.gain};
  }

  std::vector<Column> columns_;
  std::vector<std::uint32_t> to_;  // by visit
};

}  // namespace

std::vector<TallyStump> fit_stumps(const TallySample& sample,
                                   std::span<const TallySource> sources) {
  std::vector<TallyStump> all;
  for (std::uint32_t from = 0; from < sample.sites().size(); ++from) {
    for (TallyStump& stump : Departures(sample, sources, from).stumps(sample.sites().size())) {
      const bool known = std::any_of(all.begin(), all.end(), [&](const TallyStump& other) {
        const TallyInput &a = other.input, &b = stump.input;
        return other.source == stump.source && a.measure == b.measure && a.which == b.which &&
               std::abs(a.location - b.location) < std::max(a.scale, b.scale);
      });
      if (!known) all.push_back(stump);
    }
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const TallyStump& a, const TallyStump& b) { return a.gain > b.gain; });
  return all;
}

}  // namespace psn
