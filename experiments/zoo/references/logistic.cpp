// A random walk over the ten weights. The prior as the benchmark has it: F f is standard normal,
// where F = D D + diag(sqrt(j / 9)), D the matrix of first differences.
#include <cmath>

#include "experiments/zoo/references/kept.h"
#include "experiments/zoo/references/references.h"
#include "experiments/zoo/tools/chain.h"
#include "experiments/zoo/tools/linear.h"

namespace psn::zoo::references {
namespace {

constexpr std::size_t kTaps = 9;

constexpr Kept kLogistic[] = {
#include "experiments/zoo/references/kept/logistic.inc"
};

Matrix smoothness() {
  Matrix difference(kTaps, kTaps);
  for (std::size_t j = 0; j < kTaps; ++j) {
    difference(j, j) = 1;
    if (j > 0) difference(j, j - 1) = -1;
  }
  Matrix result = difference * difference;
  for (std::size_t j = 0; j < kTaps; ++j) result(j, j) += std::sqrt(static_cast<double>(j) / kTaps);
  return result;
}

class LogisticDensity {
 public:
  LogisticDensity(Data stimulus, Data spikes)
      : smoothness_(smoothness()), design_(spikes.size(), kTaps + 1), spikes_(spikes) {
    for (std::size_t t = 0; t < spikes.size(); ++t) {
      design_(t, 0) = 1;
      for (std::size_t j = 0; j < kTaps && j <= t; ++j) design_(t, j + 1) = stimulus[t - j];
    }
  }

  double operator()(Data weights, Rng&) const {
    double sum = -0.25 * weights[0] * weights[0];
    for (const double z : smoothness_* weights.subspan(1)) sum -= 0.5 * z * z;
    for (std::size_t t = 0; t < spikes_.size(); ++t) {
      double drive = 0;
      for (std::size_t j = 0; j <= kTaps; ++j) drive += design_(t, j) * weights[j];
      sum -= std::log1p(std::exp(spikes_[t] > 0 ? -drive : drive));
    }
    return sum;
  }

 private:
  Matrix smoothness_, design_;
  Data spikes_;
};

std::vector<double> logistic_walk(Data stimulus, Data spikes, std::size_t rows,
                                  std::size_t thinning, std::uint64_t seed) {
  return random_walk(LogisticDensity(stimulus, spikes),
                     {.start = std::vector<double>(kTaps + 1),
                      .step = std::vector<double>(kTaps + 1, 0.1),
                      .warm_up = 40'000,
                      .rows = rows,
                      .thinning = thinning,
                      .seed = seed});
}

}  // namespace

Answer logistic() {
  return answer_of(kLogistic);
}

Answer logistic_long_run(Data stimulus, Data spikes) {
  return moments_of(logistic_walk(stimulus, spikes, 500'000, 20, 1), kTaps + 1);
}

std::vector<double> draw_logistic(Data stimulus, Data spikes, std::size_t rows,
                                  std::uint64_t seed) {
  return logistic_walk(stimulus, spikes, rows, 60, seed);
}

}  // namespace psn::zoo::references
