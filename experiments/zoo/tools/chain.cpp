#include "experiments/zoo/tools/chain.h"

#include <algorithm>
#include <cmath>

#include "experiments/zoo/tools/linear.h"

namespace psn::zoo {
namespace {

Matrix covariance_of(const std::vector<double>& rows, std::size_t width) {
  const Answer moments = moments_of(rows, width);
  const std::size_t draws = rows.size() / width;
  const auto count = static_cast<double>(draws);
  Matrix result(width, width);
  for (std::size_t i = 0; i < rows.size(); i += width) {
    for (std::size_t j = 0; j < width; ++j) {
      for (std::size_t k = 0; k < width; ++k) {
        result(j, k) += (rows[i + j] - moments.mean[j]) * (rows[i + k] - moments.mean[k]) / count;
      }
    }
  }
  for (std::size_t j = 0; j < width; ++j) result(j, j) += 1e-12 + 1e-6 * result(j, j);
  return result;
}

class Walk {
 public:
  Walk(const NoisyLogDensity& log_density, const ChainPlan& plan)
      : log_density_(log_density),
        rng_(plan.seed, 0, 0x77616c6b),
        point_(plan.start),
        level_(log_density(point_, rng_)),
        triangle_(Matrix::diagonal(plan.step)) {}

  // Appends every `thinning`th point.
  void go(std::size_t rows, std::size_t thinning, std::vector<double>& kept) {
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t k = 0; k < thinning; ++k) step();
      kept.insert(kept.end(), point_.begin(), point_.end());
    }
  }

  // Steps of the shape of these rows, of the size that suits a normal density.
  void learn(const std::vector<double>& rows) {
    triangle_ = cholesky(covariance_of(rows, point_.size()));
    factor_ = 2.38 / std::sqrt(static_cast<double>(point_.size()));
  }

 private:
  void step() {
    std::vector<double> normals(point_.size());
    for (double& z : normals) z = factor_ * rng_.normal();
    std::vector<double> proposal = triangle_ * normals;
    for (std::size_t k = 0; k < point_.size(); ++k) proposal[k] += point_[k];
    const double level = log_density_(proposal, rng_);
    if (std::log(rng_.uniform()) >= level - level_) return;
    point_ = std::move(proposal);
    level_ = level;
  }

  const NoisyLogDensity& log_density_;
  Rng rng_;
  std::vector<double> point_;
  double level_;
  Matrix triangle_;
  double factor_ = 1;
};

}  // namespace

std::vector<double> random_walk(const NoisyLogDensity& log_density, const ChainPlan& plan) {
  Walk walk(log_density, plan);
  for (int stage = 0; stage < 4; ++stage) {
    std::vector<double> seen;
    walk.go(plan.warm_up / 4, 1, seen);
    walk.learn(seen);
  }
  std::vector<double> rows;
  walk.go(plan.rows, plan.thinning, rows);
  return rows;
}

Answer moments_of(const std::vector<double>& rows, std::size_t width) {
  constexpr std::size_t kBatches = 50;
  const std::size_t count = rows.size() / width, batch = std::max<std::size_t>(1, count / kBatches);
  Answer result;
  for (std::size_t k = 0; k < width; ++k) {
    double sum = 0, squares = 0, spread = 0;
    for (std::size_t i = 0; i < count; ++i) sum += rows[i * width + k];
    const double mean = sum / static_cast<double>(count);
    for (std::size_t b = 0; b < kBatches && (b + 1) * batch <= count; ++b) {
      double part = 0;
      for (std::size_t i = b * batch; i < (b + 1) * batch; ++i) {
        const double d = rows[i * width + k] - mean;
        part += d;
        squares += d * d;
      }
      spread += part * part / static_cast<double>(batch * batch);
    }
    result.mean.push_back(mean);
    result.sd.push_back(
        std::sqrt(squares / static_cast<double>(std::min(count, batch * kBatches))));
    result.error.push_back(std::sqrt(spread) / kBatches);
  }
  return result;
}

}  // namespace psn::zoo
