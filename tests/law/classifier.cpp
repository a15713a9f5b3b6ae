// The two-sample test of psn zoo against the best that any classifier can do, which is known where
// both densities are.
#include "psn/evidence/classifier.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "psn/base/error.h"
#include "psn/base/rng.h"

namespace psn {
namespace {

constexpr std::size_t kRows = 3000;

// Rows of a sample; a row has two numbers.
using Draw = std::function<std::pair<double, double>(Rng&)>;
std::vector<double> rows_of(const Draw& draw, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<double> rows;
  for (std::size_t i = 0; i < kRows; ++i) {
    const auto [x, y] = draw(rng);
    rows.insert(rows.end(), {x, y});
  }
  return rows;
}

double standard(Rng& rng) {
  return rng.normal();
}

std::pair<double, double> independent(Rng& rng) {
  const double x = standard(rng);
  return {x, standard(rng)};
}

// The best accuracy on these very points, by the sign of the log ratio of densities.
double best_accuracy(const std::vector<double>& one, const std::vector<double>& other,
                     const std::function<double(double, double)>& log_ratio) {
  std::size_t correct = 0;
  for (std::size_t i = 0; i < kRows; ++i) {
    correct += log_ratio(one[2 * i], one[2 * i + 1]) < 0 ? 1 : 0;
    correct += log_ratio(other[2 * i], other[2 * i + 1]) > 0 ? 1 : 0;
  }
  return static_cast<double>(correct) / (2 * kRows);
}

// The best rule is fixed and the data are random: what a classifier has beyond it on 6,000 points
// is chance, below .025 (less than one false alarm in ten thousand); what it lacks is its own
// fault.
void expect_near_best(double accuracy, double best) {
  EXPECT_LT(accuracy, best + 0.025);
  EXPECT_GT(accuracy, best - 0.025);
}

TEST(ClassifierAccuracy, IsHalfForTheSameDistribution) {
  const double accuracy =
      evidence::classifier_accuracy(rows_of(independent, 1), rows_of(independent, 2), 2);
  // sd .0065 of 6,000 throws of a coin; 4.9 of it.
  EXPECT_NEAR(accuracy, 0.5, 0.032);
}

TEST(ClassifierAccuracy, SeesAShift) {
  const auto one = rows_of(independent, 1);
  const auto other = rows_of(
      [](Rng& rng) {
        const auto [x, y] = independent(rng);
        return std::pair(x, y + 1);
      },
      2);
  const double best = best_accuracy(one, other, [](double, double y) { return y - 0.5; });
  EXPECT_NEAR(best, 0.6915, 0.03);  // Phi(1 / 2)
  expect_near_best(evidence::classifier_accuracy(one, other, 2), best);
}

// Both have the same marginals.
TEST(ClassifierAccuracy, SeesADependence) {
  constexpr double kRho = 0.8;
  const auto one = rows_of(independent, 1);
  const auto other = rows_of(
      [](Rng& rng) {
        const auto [x, y] = independent(rng);
        return std::pair(x, kRho * x + std::sqrt(1 - kRho * kRho) * y);
      },
      2);
  const double best = best_accuracy(one, other, [](double x, double y) {
    const double rest = 1 - kRho * kRho;
    return -0.5 * std::log(rest) - 0.5 * ((y - kRho * x) * (y - kRho * x) / rest - y * y);
  });
  EXPECT_GT(best, 0.65);
  expect_near_best(evidence::classifier_accuracy(one, other, 2), best);
}

TEST(ClassifierAccuracy, RefusesSamplesOfDifferentLength) {
  EXPECT_THROW(evidence::classifier_accuracy({1, 2}, {1, 2, 3, 4}, 2), InvalidArgument);
  EXPECT_THROW(evidence::classifier_accuracy({}, {}, 2), InvalidArgument);
}

}  // namespace
}  // namespace psn
