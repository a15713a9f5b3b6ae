// What might be counted: of one site, and of sites that have to do with each other.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "psn/nn/tally/parts.h"

namespace psn {
namespace {

constexpr std::size_t kRelatedSites = 3;  // of each kind, the most visited ones
constexpr double kTelling = 0.1;  // nats of a value that a source of several sites must tell

// What two sites have to do with each other, in the traces of a sample.
struct Relation {
  double turns = 0;    // how often one comes after the other, in a trace
  double follows = 0;  // how often b comes right after a, in all
  double step = std::numeric_limits<double>::infinity();  // the least sum of a for each visit of b

  Relation(const TallySample& sample, std::uint32_t a, std::uint32_t b) {
    std::size_t at = 0;
    for (const std::uint32_t length : sample.lengths()) {
      std::optional<std::uint32_t> last;
      double sum = 0, visits = 0;
      for (std::uint32_t i = 0; i < length; ++i, ++at) {
        const std::uint32_t site = sample.at()[at];
        if (site == b && i > 0 && sample.at()[at - 1] == a) ++follows;
        if (site == a) sum += sample.values()[at];
        if (site == b) step = std::min(step, sum / ++visits);
        if (site != a && site != b) continue;
        if (last && *last != site) ++turns;
        last = site;
      }
    }
    turns /= static_cast<double>(std::max<std::size_t>(1, sample.traces()));
  }
};

// Programs are written with round numbers: one that is hardly less, if there is one.
double rounded(double step) {
  const double unit = std::pow(10, std::floor(std::log10(step)));
  for (const double digits : {1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.0, 7.5, 8.0}) {
    const double round = digits * unit;
    if (round <= step && step < 1.02 * round) return round;
  }
  return step;
}

std::vector<double> round_numbers(double low, double high) {
  std::vector<double> result;
  for (double unit = std::pow(10, std::floor(std::log10(low))); unit <= high; unit *= 10) {
    for (const double digits : {1.0, 2.0, 2.5, 5.0}) {
      if (digits * unit >= low && digits * unit <= high) result.push_back(digits * unit);
    }
  }
  return result;
}

class Finder {
 public:
  explicit Finder(const TallySample& sample) : sample_(sample), frequencies_(sample) {
    order_.resize(sample.sites().size());
    std::iota(order_.begin(), order_.end(), 0u);
    std::stable_sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
      return frequencies_.visits[a] > frequencies_.visits[b];
    });
    const auto often = [&](auto site) { return frequencies_.reach(site, kOften); };
    if (std::none_of(order_.begin(), order_.end(), often)) order_.clear();
    for (const std::uint32_t site : order_) {
      if (!frequencies_.reach(site, kNowAndThen)) continue;
      auto& list = kind(site) == TallyKind::kNumber ? numbers_ : categories_;
      if (kind(site) != TallyKind::kVisits && list.size() < kRelatedSites) list.push_back(site);
    }
  }

  void singles(Candidates& out) {
    for (const std::uint32_t site : order_) {
      if (frequencies_.reach(site, kRepeatedly)) out.sources.push_back(source(site));
    }
    out.repeated = out.sources.size();
    for (const std::uint32_t site : order_) {
      if (frequencies_.reach(site, kRepeatedly) || kind(site) != TallyKind::kNumber) continue;
      out.sources.push_back(source(site));
    }
    out.singles = out.sources.size();
  }

  // Two clocks, or what comes in and what goes out.
  void pairs(Candidates& out) {
    for (std::size_t i = 0; i < numbers_.size(); ++i) {
      for (std::size_t j = i + 1; j < numbers_.size(); ++j) {
        if (is_rarer(numbers_[j], numbers_[i]) || !is_clock(numbers_[i]) ||
            !is_clock(numbers_[j]) ||
            Relation(sample_, numbers_[i], numbers_[j]).turns < kNowAndThen) {
          continue;
        }
        TallySource pair = source(numbers_[i], SourceKind::kPair);
        pair.other = text(numbers_[j]);
        out.sources.push_back(std::move(pair));
      }
    }
  }

  // A clock that something waits for, again and again.
  void steps(Candidates& out) {
    for (const std::uint32_t clock : numbers_) {
      if (!is_clock(clock)) continue;
      for (const std::uint32_t site : order_) {
        if (site == clock || !frequencies_.reach(site, kRepeatedly)) continue;
        const Relation relation(sample_, clock, site);
        constexpr double kShare = 0.02;  // of its visits that come right after the clock's
        if (!(relation.step > 0) || !std::isfinite(relation.step) ||
            relation.follows < kShare * frequencies_.visits[site] || !is_rarer(site, clock)) {
          continue;
        }
        TallySource steps = source(clock, SourceKind::kSteps);
        steps.other = text(site);
        steps.step = rounded(relation.step);
        out.sources.push_back(std::move(steps));
      }
    }
  }

  // What happened since something was last seen, if that tells what is seen next.
  void since(Candidates& out) {
    for (const std::uint32_t site : categories_) {
      for (const std::uint32_t other : numbers_) {
        if (!is_rarer(other, site) || Relation(sample_, site, other).turns < kNowAndThen) continue;
        TallySource since = source(site, SourceKind::kSince);
        since.other = text(other);
        if (told(since, other) > kTelling) out.sources.push_back(std::move(since));
      }
    }
  }

  // The same by windows of a clock that has stopped: those of all round lengths that tell most.
  void windows(Candidates& out) {
    for (const std::uint32_t clock : numbers_) {
      if (!is_clock(clock)) continue;
      const double mean = total(clock) / std::max(1.0, frequencies_.traces[clock]);
      for (const std::uint32_t site : categories_) {
        for (const std::uint32_t other : numbers_) {
          if (other == clock || Relation(sample_, site, other).turns >= kNowAndThen) continue;
          TallySource windows = source(site, SourceKind::kWindows);
          windows.clock = text(clock);
          windows.other = text(other);
          double best = kTelling;
          std::optional<TallySource> chosen;
          for (const double length : round_numbers(mean / 32, mean)) {
            windows.step = length;
            const double gain = told(windows, other);
            if (gain <= best) continue;
            best = gain;
            chosen = windows;
          }
          if (chosen) out.sources.push_back(*std::move(chosen));
        }
      }
    }
  }

 private:
  TallyKind kind(std::uint32_t site) const { return sample_.sites()[site].type.kind; }
  const std::string& text(std::uint32_t site) const { return sample_.sites()[site].text; }
  TallySource source(std::uint32_t site, SourceKind kind = SourceKind::kSite) const {
    TallySource result;
    result.kind = kind;
    result.site = text(site);
    result.type = sample_.sites()[site].type;
    return result;
  }
  // By half at least.
  bool is_rarer(std::uint32_t a, std::uint32_t b) const {
    return 2 * frequencies_.visits[a] < frequencies_.visits[b];
  }
  bool is_clock(std::uint32_t site) const {
    for (std::size_t i = 0; i < sample_.at().size(); ++i) {
      if (sample_.at()[i] == site && !(sample_.values()[i] >= 0)) return false;
    }
    return true;
  }
  double total(std::uint32_t site) const {
    double sum = 0;
    for (std::size_t i = 0; i < sample_.at().size(); ++i) {
      if (sample_.at()[i] == site) sum += sample_.values()[i];
    }
    return sum;
  }
  // The most that one category tells.
  double told(const TallySource& source, std::uint32_t site) const {
    double best = 0;
    for (std::uint32_t k = 0; k < source.type.categories; ++k) {
      best = std::max(best, told_by(sample_, source, Measure::kCount, k, site));
    }
    return best;
  }

  const TallySample& sample_;
  Frequencies frequencies_;
  std::vector<std::uint32_t> order_;                 // by visits; empty if all are few
  std::vector<std::uint32_t> numbers_, categories_;  // that come up several times in a trace
};

}  // namespace

Frequencies::Frequencies(const TallySample& sample)
    : visits(sample.sites().size()), traces(sample.sites().size()) {
  std::vector<std::size_t> last(sample.sites().size(), 0);
  std::size_t at = 0, trace = 0;
  for (const std::uint32_t length : sample.lengths()) {
    ++trace;
    for (std::uint32_t i = 0; i < length; ++i) {
      const std::uint32_t site = sample.at()[at++];
      ++visits[site];
      if (last[site] != trace) ++traces[site];
      last[site] = trace;
    }
  }
}

void replay(const TallySample& sample, std::span<const TallySource> sources,
            const TallyVisits& visits) {
  std::vector<std::vector<TallyUse>> uses;
  for (const TallySample::Site& site : sample.sites()) {
    uses.push_back(tally_uses(sources, site.text));
  }
  std::size_t at = 0;
  for (const std::uint32_t length : sample.lengths()) {
    std::vector<TallyCounts> counts(sources.size());
    for (std::uint32_t i = 0; i < length; ++i, ++at) {
      if (visits.before) visits.before(at, counts);
      for (const TallyUse& use : uses[sample.at()[at]]) {
        counts[use.source].add(sources[use.source], use.part, sample.values()[at]);
      }
      if (visits.after) visits.after(at, counts);
    }
    if (visits.end) visits.end(counts);
  }
}

Candidates::Candidates(const TallySample& sample) {
  Finder finder(sample);
  finder.singles(*this);
  finder.pairs(*this);
  finder.steps(*this);
  finder.since(*this);
  finder.windows(*this);
}

}  // namespace psn
