// What counts tell of the values that come next; and which differences of them a program goes by:
// infected = infections - recoveries, whatever else is counted.
#include <algorithm>
#include <cmath>
#include <map>

#include "psn/nn/tally/parts.h"

namespace psn {
namespace {

constexpr double kFarthest = 64;  // counts beyond it are taken as it

// What a whole number tells of the values of one site.
class Explained {
 public:
  explicit Explained(const TallyType& type) : type_(type) {}

  void add(double number, double value) {
    all_.add(type_, value);
    by_number_[static_cast<int>(std::clamp(number, -kFarthest, kFarthest))].add(type_, value);
  }

  double count() const { return all_.count; }
  // In nats over all values, less what chance would explain.
  double gain() const {
    if (type_.kind == TallyKind::kVisits || count() == 0) return 0;
    double gain = all_.doubt(type_);
    for (const auto& [number, cell] : by_number_) gain -= cell.doubt(type_);
    const double freedom = type_.kind == TallyKind::kCategories ? type_.categories - 1.0 : 1.0;
    return gain - freedom * static_cast<double>(by_number_.size());
  }

 private:
  struct Cell {
    double count = 0, sum = 0, squares = 0;
    std::array<double, kMostTalliedCategories> categories{};

    void add(const TallyType& type, double value) {
      ++count;
      if (type.kind == TallyKind::kCategories) {
        const auto category = static_cast<std::size_t>(value);
        if (category < type.categories) ++categories[category];
        return;
      }
      // Compressed: of waits and the like it is the order of magnitude that is told.
      const double x = std::copysign(std::log1p(std::abs(value)), value);
      sum += x;
      squares += x * x;
    }
    // Entropy, or that of a Normal.
    double doubt(const TallyType& type) const {
      if (type.kind == TallyKind::kCategories) {
        double nats = 0;
        for (const double k : categories) nats -= k > 0 ? k * std::log(k / count) : 0;
        return nats;
      }
      constexpr double kLeast = 1e-4;  // of a variance: a few values alike are no certainty
      const double mean = sum / count;
      return count / 2 * std::log(std::max(kLeast, squares / count - mean * mean));
    }
  };

  TallyType type_;
  Cell all_;
  std::map<int, Cell> by_number_;
};

// By difference: what it tells, before each choice, of all sites' values.
std::vector<double> gains(const TallySample& sample, const TallySource& source,
                          const std::vector<std::uint32_t>& differences) {
  std::vector<std::vector<Explained>> explained(differences.size());
  for (auto& by_site : explained) {
    for (const TallySample::Site& other : sample.sites()) by_site.emplace_back(other.type);
  }
  TallyVisits visits;
  visits.before = [&](std::size_t at, std::span<const TallyCounts> counts) {
    for (std::size_t k = 0; k < differences.size(); ++k) {
      explained[k][sample.at()[at]].add(counts[0].measure(Measure::kDifference, differences[k]),
                                        sample.values()[at]);
    }
  };
  replay(sample, {&source, 1}, visits);
  std::vector<double> result;
  for (const auto& by_site : explained) {
    double& gain = result.emplace_back(0);
    for (const Explained& of_site : by_site) gain += std::max(0.0, of_site.gain());
  }
  return result;
}

}  // namespace

double told_by(const TallySample& sample, const TallySource& source, Measure measure,
               std::uint32_t which, std::uint32_t site) {
  Explained explained(sample.sites()[site].type);
  TallyVisits visits;
  visits.before = [&](std::size_t at, std::span<const TallyCounts> counts) {
    if (sample.at()[at] != site) return;
    explained.add(counts[0].measure(measure, which), sample.values()[at]);
  };
  replay(sample, {&source, 1}, visits);
  return explained.count() > 0 ? explained.gain() / explained.count() : 0;
}

// The first category that counts does so positively.
std::vector<std::uint32_t> differences_of(std::uint32_t categories) {
  std::vector<std::uint32_t> result;
  const std::uint32_t all = (1u << categories) - 1;
  for (std::uint32_t absent = 0; absent < all; ++absent) {
    const std::uint32_t counted = all & ~absent, first = counted & ~(counted - 1);
    for (std::uint32_t negative = 1; negative <= all; ++negative) {
      if ((negative & absent) == 0 && (negative & first) == 0) {
        result.push_back(difference_of(negative, absent));
      }
    }
  }
  return result;
}

std::vector<std::vector<std::uint32_t>> best_differences(const TallySample& sample,
                                                         std::span<const TallySource> sources) {
  std::vector<std::vector<std::uint32_t>> result;
  for (const TallySource& source : sources) {
    const bool alone = source.kind == SourceKind::kSite;
    std::vector<std::uint32_t>& best =
        result.emplace_back(differences_of(alone ? source.type.categories : 0));
    if (best.size() <= kMostDifferences) continue;
    const std::vector<double> gain = gains(sample, source, best);
    std::vector<std::size_t> order(best.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return gain[a] > gain[b]; });
    std::vector<std::uint32_t> chosen;
    for (std::size_t i = 0; i < kMostDifferences; ++i) chosen.push_back(best[order[i]]);
    best = std::move(chosen);
  }
  return result;
}

}  // namespace psn
