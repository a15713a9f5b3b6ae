// Weighted values as counts on a grid, so that a report holds figures and not a million draws.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace psn {

// Equal bins of [low, high). Of whole numbers there is one bin around each.
struct Grid {
  double low = 0, high = 1;
  std::size_t bins = 1;
  bool whole = false;

  double width() const { return (high - low) / static_cast<double>(bins); }
  double edge(std::size_t i) const { return low + width() * static_cast<double>(i); }
  // The bin of x; `bins` if it has none.
  std::size_t place(double x) const;
};

// Values with weights that need not be normalised; empty weights are equal. NaN: no value.
struct Weighted {
  std::span<const double> values, weights;

  double weight(std::size_t i) const { return weights.empty() ? 1 : weights[i]; }
};

// From the 0.1 % to the 99.9 % quantile by weight, and a little beyond, but not beyond the values.
Grid grid_of(const Weighted& sample, std::size_t most_bins);
// Both in one grid.
Grid joined(const Grid& a, const Grid& b, std::size_t most_bins);

// Densities: they integrate to the share of the weight that lies on the grid.
std::vector<double> densities(const Weighted& sample, const Grid& grid);
// The same of pairs, row-major: x by y, as shares of the whole weight.
std::vector<double> shares(const Weighted& x, const Weighted& y, const Grid& x_grid,
                           const Grid& y_grid);

// Weighted quantiles for increasing ps.
std::vector<double> weighted_quantiles(const Weighted& sample, std::span<const double> ps);

}  // namespace psn
