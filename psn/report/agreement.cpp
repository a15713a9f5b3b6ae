#include "psn/report/agreement.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

#include "psn/base/numerics.h"

namespace psn {
namespace {

// Counts by start and target, and sums by start.
struct Departures {
  std::map<std::pair<std::string, std::string>, std::uint64_t> counts;
  std::unordered_map<std::string, std::uint64_t> totals;

  explicit Departures(const TransitionGraph& graph) {
    for (const auto& edge : graph.unsorted_edges()) {
      counts[{edge.from, edge.to}] = edge.count;
      totals[edge.from] += edge.count;
    }
  }
};

double ratio(std::uint64_t count, std::uint64_t total) {
  return total > 0 ? static_cast<double>(count) / static_cast<double>(total) : 0;
}

}  // namespace

double TransitionDeviation::standard_error() const {
  const auto n0 = static_cast<double>(departures[0]), n1 = static_cast<double>(departures[1]);
  const double p = (probability[0] * n0 + probability[1] * n1) / (n0 + n1);
  return std::sqrt(p * (1 - p) * (1 / n0 + 1 / n1));
}

std::vector<TransitionDeviation> transition_deviations(const TransitionGraph& a,
                                                       const TransitionGraph& b,
                                                       std::uint64_t min_departures) {
  const TransitionGraph* graphs[2] = {&a, &b};
  Departures sides[2] = {Departures(a), Departures(b)};
  auto edges = sides[0].counts;
  edges.insert(sides[1].counts.begin(), sides[1].counts.end());
  std::vector<TransitionDeviation> result;
  for (const auto& [edge, count] : edges) {
    TransitionDeviation deviation{edge.first, edge.second, {}, {}, {}};
    for (int side = 0; side < 2; ++side) {
      const auto taken = sides[side].counts[edge];
      deviation.departures[side] = sides[side].totals[edge.first];
      deviation.probability[side] = ratio(taken, deviation.departures[side]);
      deviation.frequency[side] = ratio(taken, graphs[side]->traces());
    }
    const auto fewest = std::min(deviation.departures[0], deviation.departures[1]);
    if (fewest >= std::max<std::uint64_t>(1, min_departures)) result.push_back(deviation);
  }
  std::stable_sort(result.begin(), result.end(), [](const auto& x, const auto& y) {
    return std::abs(x.difference()) > std::abs(y.difference());
  });
  return result;
}

void PathCounts::add(const Trace& trace) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const Entry& entry : trace.entries) {
    if (entry.role != Role::kSample && entry.role != Role::kObserve) continue;
    hash = (hash ^ std::hash<std::string>()(entry.address->text)) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 32;
  }
  ++counts_[hash];
  ++traces_;
}

double PathCounts::total_variation(const PathCounts& a, const PathCounts& b) {
  std::vector<double> terms;  // sorted, since the order of paths follows that of threads
  for (const auto& [path, count] : a.counts_) {
    const auto found = b.counts_.find(path);
    const std::uint64_t other = found == b.counts_.end() ? 0 : found->second;
    terms.push_back(std::abs(ratio(count, a.traces_) - ratio(other, b.traces_)));
  }
  for (const auto& [path, count] : b.counts_) {
    if (!a.counts_.contains(path)) terms.push_back(ratio(count, b.traces_));
  }
  std::sort(terms.begin(), terms.end());
  return std::accumulate(terms.begin(), terms.end(), 0.0) / 2;
}

std::vector<Bin> binned_means(std::span<const std::pair<double, double>> pairs, double low,
                              double high, std::size_t bins) {
  std::vector<Bin> result(bins);
  const double width = (high - low) / static_cast<double>(bins);
  for (std::size_t i = 0; i < bins; ++i) {
    result[i].low = low + width * static_cast<double>(i);
    result[i].high = i + 1 == bins ? high : low + width * static_cast<double>(i + 1);
  }
  std::vector<double> by_sums(bins), sums(bins), squares(bins);
  for (const auto& [by, x] : pairs) {
    if (!(by >= low && by <= high)) continue;
    const std::size_t i =
        width > 0 ? std::min(bins - 1, static_cast<std::size_t>((by - low) / width)) : 0;
    ++result[i].count;
    by_sums[i] += by;
    sums[i] += x;
    squares[i] += x * x;
  }
  for (std::size_t i = 0; i < bins; ++i) {
    const auto n = static_cast<double>(result[i].count);
    result[i].by_mean = n > 0 ? by_sums[i] / n : kNaN;
    const double mean = result[i].mean = n > 0 ? sums[i] / n : kNaN;
    result[i].standard_error =
        n > 0 ? std::sqrt(std::max(0.0, squares[i] / n - mean * mean) / n) : kNaN;
  }
  return result;
}

}  // namespace psn
