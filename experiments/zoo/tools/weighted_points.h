// A posterior as points with weights: what quadrature, enumeration and dynamic programming end in.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "experiments/zoo/zoo.h"
#include "psn/base/rng.h"

namespace psn::zoo {

class WeightedPoints {
 public:
  // A point; or, with variances, a distribution around it.
  void add(double log_weight, std::span<const double> mean, std::span<const double> variance = {});

  std::size_t size() const { return log_weights_.size(); }
  std::span<const double> point(std::size_t i) const { return {&means_[i * width_], width_}; }
  // Moments; the evidence is the sum of all weights.
  Answer answer() const;
  // Some of the points, by weight.
  std::vector<std::size_t> choose(std::size_t count, Rng& rng) const;

 private:
  std::size_t width_ = 0;
  std::vector<double> log_weights_, means_, variances_;
};

using LogDensity = std::function<double(std::span<const double>)>;

// Midpoint quadrature over a box. Its error falls off faster than any power of the cells' width for
// a density that is smooth and vanishes at the ends, which is what references use it for.
struct Axis {
  double low, high;
  std::size_t cells;
  double width() const { return (high - low) / static_cast<double>(cells); }
  double middle(std::size_t cell) const {
    return low + (static_cast<double>(cell) + 0.5) * width();
  }
};

class Grid {
 public:
  Grid(std::vector<Axis> axes, const LogDensity& log_density);
  Answer answer() const { return points_.answer(); }
  // Rows of draws: a cell by weight, a point in it.
  std::vector<double> draw(std::size_t rows, Rng& rng) const;

 private:
  std::vector<Axis> axes_;
  WeightedPoints points_;
};

// The same on boxes that close in, three times, on where the density is: for posteriors that are a
// small part of the prior.
Grid focused_grid(std::vector<Axis> axes, const LogDensity& log_density);

// Calls f at the middle of every cell.
void each_cell(std::span<const Axis> axes,
               const std::function<void(std::span<const double> middle)>& f);

}  // namespace psn::zoo
