#include "psn/report/binning.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "psn/base/numerics.h"

namespace psn {
namespace {

bool all_whole(const Weighted& sample) {
  return std::all_of(sample.values.begin(), sample.values.end(),
                     [](double x) { return std::isnan(x) || x == std::round(x); });
}

Grid whole_grid(double low, double high) {
  return {low - 0.5, high + 0.5, static_cast<std::size_t>(high - low) + 1, true};
}

}  // namespace

std::size_t Grid::place(double x) const {
  if (!(x >= low && x <= high)) return bins;
  return std::min(bins - 1, static_cast<std::size_t>((x - low) / width()));
}

std::vector<double> weighted_quantiles(const Weighted& sample, std::span<const double> ps) {
  std::vector<std::pair<double, double>> sorted;  // value, weight
  double total = 0;
  for (std::size_t i = 0; i < sample.values.size(); ++i) {
    const double weight = sample.weight(i);
    if (std::isnan(sample.values[i]) || !(weight > 0)) continue;
    sorted.emplace_back(sample.values[i], weight);
    total += weight;
  }
  std::sort(sorted.begin(), sorted.end());
  std::vector<double> result;
  std::size_t at = 0;
  double passed = 0;
  for (const double p : ps) {
    while (at + 1 < sorted.size() && passed + sorted[at].second < p * total) {
      passed += sorted[at++].second;
    }
    result.push_back(sorted.empty() ? kNaN : sorted[at].first);
  }
  return result;
}

Grid grid_of(const Weighted& sample, std::size_t most_bins) {
  constexpr std::array kEnds{0.0, 0.001, 0.999, 1.0};
  const auto ends = weighted_quantiles(sample, kEnds);
  if (!std::isfinite(ends[0]) || !std::isfinite(ends[3])) return {};
  const double most = static_cast<double>(most_bins);
  if (all_whole(sample) && ends[2] - ends[1] < most) return whole_grid(ends[1], ends[2]);
  const double margin = (ends[2] - ends[1]) / 20;
  const double low = std::max(ends[0], ends[1] - margin);
  const double high = std::min(ends[3], ends[2] + margin);
  if (!(low < high)) {
    const double half = std::max(std::abs(low) * 1e-6, 1e-9);
    return {low - half, low + half, 1};
  }
  return {low, high, most_bins};
}

Grid joined(const Grid& a, const Grid& b, std::size_t most_bins) {
  const double low = std::min(a.low, b.low), high = std::max(a.high, b.high);
  const bool whole = a.whole && b.whole && high - low <= static_cast<double>(most_bins);
  return whole ? whole_grid(low + 0.5, high - 0.5) : Grid{low, high, most_bins};
}

std::vector<double> densities(const Weighted& sample, const Grid& grid) {
  std::vector<double> result(grid.bins);
  double total = 0;
  for (std::size_t i = 0; i < sample.values.size(); ++i) {
    if (std::isnan(sample.values[i])) continue;
    const double weight = sample.weight(i);
    total += weight;
    const std::size_t bin = grid.place(sample.values[i]);
    if (bin < grid.bins) result[bin] += weight;
  }
  for (double& density : result) density /= total > 0 ? total * grid.width() : 1;
  return result;
}

std::vector<double> shares(const Weighted& x, const Weighted& y, const Grid& x_grid,
                           const Grid& y_grid) {
  std::vector<double> result(x_grid.bins * y_grid.bins);
  double total = 0;
  for (std::size_t i = 0; i < x.values.size(); ++i) {
    const double weight = x.weight(i);
    total += weight;
    const std::size_t row = x_grid.place(x.values[i]), column = y_grid.place(y.values[i]);
    if (row < x_grid.bins && column < y_grid.bins) result[row * y_grid.bins + column] += weight;
  }
  for (double& share : result) share /= total > 0 ? total : 1;
  return result;
}

}  // namespace psn
