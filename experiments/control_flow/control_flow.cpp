#include "experiments/control_flow/control_flow.h"

#include <algorithm>
#include <cmath>

#include "psn/base/numerics.h"

namespace psn::control_flow {
namespace {

constexpr double kBranchProbability = 0.7;
constexpr double kMean1 = 1.0, kSd1 = 0.25;
constexpr double kMean2 = 1.5, kSd2 = 0.5;
constexpr double kNoise = 0.5;
constexpr double kAlpha = 2, kBeta = 5;

Value program(Context& ctx) {
  const double theta = ctx.sample(Beta(kAlpha, kBeta), {.name = "theta"});
  double sum = 0;
  for (std::int64_t i = 0;; ++i) {
    const auto bern = ctx.sample(Categorical({1 - kBranchProbability, kBranchProbability}),
                                 {.name = "bern", .index = i});
    if (bern.integer() == 1) {
      sum += ctx.sample(Normal(kMean1, kSd1), {.name = "z_1", .index = i});
    } else {
      sum += ctx.sample(Normal(kMean2, kSd2), {.name = "z_2", .index = i});
    }
    const auto go_on = ctx.sample(Categorical({1 - theta, theta}), {.name = "c", .index = i});
    if (go_on.integer() == 0) break;
  }
  ctx.observe(Normal(sum, kNoise), {.name = "x"});
  return theta;
}

// p(x | n loops).
double likelihood(double x, std::size_t n) {
  const auto count = static_cast<double>(n);
  double total = 0;
  for (std::size_t k = 0; k <= n; ++k) {
    const auto first = static_cast<double>(k);
    const double second = count - first;
    const double mean = kMean1 * first + kMean2 * second;
    const double sd = std::sqrt(kSd1 * kSd1 * first + kSd2 * kSd2 * second + kNoise * kNoise);
    total += std::exp(family::Binomial::log_prob({count, kBranchProbability}, first) +
                      family::Normal::log_prob({mean, sd}, x));
  }
  return total;
}

}  // namespace

Model model() {
  return {"control-flow", program,
          "a loop of random length with a nested if/else (the paper's 4.1)"};
}

ExactPosterior::ExactPosterior(double x, std::size_t max_loops, std::size_t grid)
    : theta_(grid), density_(grid), loops_(max_loops) {
  std::vector<double> given_loops(max_loops);
  for (std::size_t n = 1; n <= max_loops; ++n) given_loops[n - 1] = likelihood(x, n);
  for (std::size_t g = 0; g < grid; ++g) {
    const double theta = (static_cast<double>(g) + 0.5) / static_cast<double>(grid);
    const double prior =
        std::exp(family::Beta::log_prob({kAlpha, kBeta}, theta)) / static_cast<double>(grid);
    double continued = prior * (1 - theta);
    double sum = 0;
    for (std::size_t n = 0; n < max_loops; ++n, continued *= theta) {
      const double joint = continued * given_loops[n];
      loops_[n] += joint;
      sum += joint;
    }
    theta_[g] = theta;
    density_[g] = sum;
    evidence_ += sum;
  }
  for (double& d : density_) d /= evidence_;
  for (double& l : loops_) l /= evidence_;
}

double ExactPosterior::mean() const {
  double sum = 0;
  for (std::size_t g = 0; g < theta_.size(); ++g) sum += density_[g] * theta_[g];
  return sum;
}

double ExactPosterior::sd() const {
  const double center = mean();
  double sum = 0;
  for (std::size_t g = 0; g < theta_.size(); ++g) {
    sum += density_[g] * (theta_[g] - center) * (theta_[g] - center);
  }
  return std::sqrt(sum);
}

double ExactPosterior::quantile(double p) const {
  double cumulative = 0;
  for (std::size_t g = 0; g < theta_.size(); ++g) {
    cumulative += density_[g];
    if (cumulative >= p) return theta_[g];
  }
  return theta_.back();
}

std::vector<double> ExactPosterior::histogram(std::size_t bins) const {
  std::vector<double> result(bins, 0.0);
  for (std::size_t i = 0; i < theta_.size(); ++i) {
    const auto bin = static_cast<std::size_t>(theta_[i] * static_cast<double>(bins));
    result[std::min(bins - 1, bin)] += density_[i];
  }
  return result;
}

}  // namespace psn::control_flow
