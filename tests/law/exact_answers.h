// The exact posteriors of the reference programs, given the data they come with.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "experiments/reference/reference.h"
#include "tests/law/statistics.h"

namespace psn {

// gaussian and gaussian-marsaglia: mu | obs0, obs1 is normal, with precision 1/5 + 2/2.
struct GaussianAnswer {
  double mean, sd;
};
inline GaussianAnswer gaussian_answer(double obs0, double obs1) {
  const double variance = 1 / (1.0 / 5 + 1);
  return {variance * (1.0 / 5 + (obs0 + obs1) / 2), std::sqrt(variance)};
}

// hmm: probabilities of each state, by forward-backward.
struct Smoothing {
  double probability[16][3];
  double log_evidence = 0;
};

inline Smoothing forward_backward() {
  const reference::HmmParameters p;
  const auto emission = [&](int t, int k) {
    return std::exp(Distribution(Normal(p.mean[k], p.noise)).log_prob(p.data[t]));
  };
  double forward[16][3], backward[16][3];
  Smoothing result;
  for (int t = 0; t < 16; ++t) {
    double sum = 0;
    for (int k = 0; k < 3; ++k) {
      double prior = t == 0 ? p.initial[k] : 0;
      if (t > 0) {
        for (int j = 0; j < 3; ++j) prior += forward[t - 1][j] * p.transition[j][k];
      }
      sum += forward[t][k] = prior * emission(t, k);
    }
    for (double& f : forward[t]) f /= sum;
    result.log_evidence += std::log(sum);
  }
  for (int t = 15; t >= 0; --t) {
    for (int k = 0; k < 3; ++k) {
      backward[t][k] = t == 15 ? 1 : 0;
      if (t == 15) continue;
      for (int j = 0; j < 3; ++j) {
        backward[t][k] += p.transition[k][j] * emission(t + 1, j) * backward[t + 1][j];
      }
    }
    double sum = 0;
    for (int k = 0; k < 3; ++k) sum += forward[t][k] * backward[t][k];
    for (int k = 0; k < 3; ++k) result.probability[t][k] = forward[t][k] * backward[t][k] / sum;
  }
  return result;
}

inline void expect_states(const Posterior& posterior, const Smoothing& exact) {
  for (int t = 0; t < 16; ++t) {
    const double* p = exact.probability[t];
    const double mean = p[1] + 2 * p[2];
    expect_mean(posterior, "x_" + std::to_string(t), mean,
                std::sqrt(p[1] + 4 * p[2] - mean * mean));
  }
}

// branching: by enumeration.
struct BranchingAnswer {
  double log_evidence = 0;
  double mean = 0, sd = 0, kurtosis = 0;  // of count
  double deep = 0;                        // probability of the branch that draws extra
  double extra_mean = 0, extra_sd = 0;    // there
};

inline BranchingAnswer branching_answer() {
  const auto log_poisson = [](double rate, double k) {
    return Distribution(Poisson(rate)).log_prob(k);
  };
  double fibonacci[13] = {0, 1};
  for (int i = 2; i < 13; ++i) fibonacci[i] = fibonacci[i - 1] + fibonacci[i - 2];
  std::vector<double> joint(60);  // p(count, obs = 6)
  double deep = 0, extra_sum = 0, extra_squares = 0;
  for (int count = 0; count < 60; ++count) {
    const double prior = log_poisson(4, count);
    double& p_count = joint[static_cast<std::size_t>(count)];
    if (count > 4) {
      p_count = std::exp(prior + log_poisson(6, 6));
      continue;
    }
    for (int extra = 0; extra < 80; ++extra) {
      const double p = std::exp(prior + log_poisson(4, extra) +
                                log_poisson(1 + fibonacci[3 * count] + extra, 6));
      p_count += p;
      deep += p;
      extra_sum += p * extra;
      extra_squares += p * extra * extra;
    }
  }
  double evidence = 0, square = 0, fourth = 0;
  BranchingAnswer answer;
  for (std::size_t k = 0; k < joint.size(); ++k) {
    evidence += joint[k];
    answer.mean += joint[k] * static_cast<double>(k);
  }
  answer.mean /= evidence;
  for (std::size_t k = 0; k < joint.size(); ++k) {
    const double d = static_cast<double>(k) - answer.mean;
    square += joint[k] / evidence * d * d;
    fourth += joint[k] / evidence * d * d * d * d;
  }
  answer.log_evidence = std::log(evidence);
  answer.sd = std::sqrt(square);
  answer.kurtosis = fourth / (square * square);
  answer.deep = deep / evidence;
  answer.extra_mean = extra_sum / deep;
  answer.extra_sd = std::sqrt(extra_squares / deep - answer.extra_mean * answer.extra_mean);
  return answer;
}

inline void expect_branching(const Posterior& posterior, const BranchingAnswer& exact) {
  expect_moments(posterior, "count", exact.mean, exact.sd, exact.kurtosis);
  // The branch itself, and the choice that exists only inside it.
  const double ess = effective_sample_size(posterior, "count");
  EXPECT_NEAR(posterior.probability("extra"), exact.deep,
              kStandardErrors * std::sqrt(exact.deep * (1 - exact.deep) / ess));
  EXPECT_NEAR(posterior.mean("extra"), exact.extra_mean,
              kStandardErrors * exact.extra_sd / std::sqrt(ess * exact.deep));
}

}  // namespace psn
