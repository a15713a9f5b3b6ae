#include "experiments/zoo/tools/weighted_points.h"

#include <algorithm>
#include <cmath>

#include "psn/base/numerics.h"

namespace psn::zoo {

void WeightedPoints::add(double log_weight, std::span<const double> mean,
                         std::span<const double> variance) {
  width_ = mean.size();
  log_weights_.push_back(log_weight);
  means_.insert(means_.end(), mean.begin(), mean.end());
  for (std::size_t k = 0; k < width_; ++k) {
    variances_.push_back(variance.empty() ? 0 : variance[k]);
  }
}

Answer WeightedPoints::answer() const {
  Answer result{std::vector<double>(width_), std::vector<double>(width_)};
  result.log_evidence = log_sum_exp(log_weights_);
  for (std::size_t k = 0; k < width_; ++k) {
    Sum mean, variance;
    for (std::size_t i = 0; i < size(); ++i) {
      mean.add(std::exp(log_weights_[i] - *result.log_evidence) * means_[i * width_ + k]);
    }
    result.mean[k] = mean.value();
    for (std::size_t i = 0; i < size(); ++i) {
      const double d = means_[i * width_ + k] - result.mean[k];
      variance.add(std::exp(log_weights_[i] - *result.log_evidence) *
                   (d * d + variances_[i * width_ + k]));
    }
    result.sd[k] = std::sqrt(variance.value());
  }
  return result;
}

std::vector<std::size_t> WeightedPoints::choose(std::size_t count, Rng& rng) const {
  const double highest = *std::max_element(log_weights_.begin(), log_weights_.end());
  std::vector<double> cumulative;
  double total = 0;
  for (const double w : log_weights_) cumulative.push_back(total += std::exp(w - highest));
  std::vector<std::size_t> chosen(count);
  for (std::size_t& i : chosen) {
    const auto at = std::upper_bound(cumulative.begin(), cumulative.end(), total * rng.uniform());
    i = std::min<std::size_t>(static_cast<std::size_t>(at - cumulative.begin()), size() - 1);
  }
  return chosen;
}

void each_cell(std::span<const Axis> axes,
               const std::function<void(std::span<const double> middle)>& f) {
  std::vector<std::size_t> cell(axes.size());
  std::vector<double> middle(axes.size());
  for (;;) {
    for (std::size_t k = 0; k < axes.size(); ++k) middle[k] = axes[k].middle(cell[k]);
    f(middle);
    std::size_t k = 0;
    while (k < axes.size() && ++cell[k] == axes[k].cells) cell[k++] = 0;
    if (k == axes.size()) return;
  }
}

Grid::Grid(std::vector<Axis> axes, const LogDensity& log_density) : axes_(std::move(axes)) {
  double log_volume = 0;
  for (const Axis& axis : axes_) log_volume += std::log(axis.width());
  each_cell(axes_, [&](std::span<const double> middle) {
    points_.add(log_density(middle) + log_volume, middle);
  });
}

Grid focused_grid(std::vector<Axis> axes, const LogDensity& log_density) {
  for (int stage = 0; stage < 3; ++stage) {
    std::vector<Axis> rough = axes;
    for (Axis& axis : rough) axis.cells = std::min<std::size_t>(axis.cells, 40);
    const Answer coarse = Grid(rough, log_density).answer();
    for (std::size_t k = 0; k < axes.size(); ++k) {
      Axis& axis = axes[k];
      const double reach = 7 * coarse.sd[k] + 2 * rough[k].width();
      axis = {std::max(axis.low, coarse.mean[k] - reach),
              std::min(axis.high, coarse.mean[k] + reach), axis.cells};
    }
  }
  return Grid(axes, log_density);
}

std::vector<double> Grid::draw(std::size_t rows, Rng& rng) const {
  std::vector<double> result;
  for (const std::size_t i : points_.choose(rows, rng)) {
    for (std::size_t k = 0; k < axes_.size(); ++k) {
      result.push_back(points_.point(i)[k] + axes_[k].width() * (rng.uniform() - 0.5));
    }
  }
  return result;
}

}  // namespace psn::zoo
