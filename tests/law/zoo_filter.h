// Programs of the zoo that are observed along the way, by a particle filter on psn's Session: where
// importance sampling and single-site chains get nowhere in seconds.
#pragma once

#include <numeric>

#include "tests/law/particle_filter.h"
#include "tests/law/zoo_agreement.h"

namespace psn {

struct ZooFiltered {
  double log_evidence = 0;
  std::vector<double> rows;     // of what is judged, a particle each
  std::vector<double> weights;  // of each particle; their sum is 1
};

// Resamples where less than half of the particles count: copies of programs are run again.
inline ZooFiltered filter_once(Ensemble& ensemble, const zoo::Program& program,
                               const Observations& data, std::uint64_t seed) {
  PriorGuide prior;
  const RunOptions options{.seed = seed, .observations = &data};
  Session session(ensemble, prior, options);
  const auto n = static_cast<Slot>(session.width());
  Rng rng(seed, 0, 0x7a6f6f);
  std::vector<double> gained(n), before(n);
  ZooFiltered result;
  for (Slot slot = 0; slot < n; ++slot) session.start(slot, {slot, 0});
  for (std::uint32_t generation = 1; session.running() > 0; ++generation) {
    const std::vector<Pending> meeting = next_observations(session);
    for (const Pending& request : meeting) session.take(request);
    std::vector<double> squares;
    for (Slot slot = 0; slot < n; ++slot) {
      gained[slot] += session.trace(slot).log_weight -
                      std::exchange(before[slot], session.trace(slot).log_weight);
      squares.push_back(2 * gained[slot]);
    }
    const double total = log_sum_exp(gained);
    const bool dead = total == -kInfinity;  // all of them: the estimate is zero
    if (dead || meeting.empty() || 2 * total - log_sum_exp(squares) > std::log(n / 2.0)) continue;
    result.log_evidence += total - std::log(n);
    resample(session, copies(gained, rng), generation,
             [&](Slot from, Slot to) { before[to] = before[from]; });
    gained.assign(n, 0);
  }
  const double total = log_sum_exp(gained);
  result.log_evidence += total - std::log(n);
  for (Slot slot = 0; slot < n; ++slot) {
    for (const Query& query : program.judged) {
      const Value& value = session.trace(slot)[query.name];
      result.rows.insert(result.rows.end(), value.begin(), value.end());
    }
    result.weights.push_back(total == -kInfinity ? 0 : std::exp(gained[slot] - total));
  }
  return result;
}

// A weighted mean of runs, as a ratio, with its standard error.
struct Ratio {
  double value = 0, error = 0;
};
inline Ratio ratio(const std::vector<double>& weights, const std::vector<double>& values) {
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  Ratio result;
  for (std::size_t i = 0; i < values.size(); ++i) result.value += weights[i] / total * values[i];
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double d = weights[i] / total * (values[i] - result.value);
    result.error += d * d;
  }
  result.error = std::sqrt(result.error);
  return result;
}

// With errors from 24 runs: beyond 8 of them lies less than one seed in ten million of Student's
// distribution with 23 degrees of freedom; the margin is for weights that differ.
inline constexpr int kFilterRuns = 24;
inline constexpr double kFilterErrors = 8;

struct ZooFilterRun {
  std::string name;
  std::size_t particles;
};

inline void expect_filter_agreement(const ZooFilterRun& run) {
  const zoo::Program program = zoo_program(run.name);
  const zoo::Answer answer = program.answer();
  std::vector<double> log_evidence;
  std::vector<std::vector<double>> means(program.components()), squares(program.components());
  InProcess simulator(program.model);
  const auto ensemble = simulator.ensemble(run.particles);
  for (int i = 0; i < kFilterRuns; ++i) {
    const ZooFiltered filtered = filter_once(*ensemble, program, program.observed, 100 + i);
    log_evidence.push_back(filtered.log_evidence);
    for (std::size_t k = 0; k < program.components(); ++k) {
      double mean = 0, square = 0;
      for (std::size_t p = 0; p < run.particles; ++p) {
        const double d =
            (filtered.rows[p * program.components() + k] - answer.mean[k]) / answer.sd[k];
        mean += filtered.weights[p] * d;
        square += filtered.weights[p] * d * d;
      }
      means[k].push_back(mean);
      squares[k].push_back(square);
    }
  }
  const double average = log_sum_exp(log_evidence) - std::log(kFilterRuns);
  std::vector<double> weights, equal(kFilterRuns, 1);
  for (const double e : log_evidence) weights.push_back(std::exp(e - average));
  const double spread = ratio(equal, weights).error;
  EXPECT_LT(spread, 0.4) << "too few particles to judge";
  if (answer.log_evidence) {
    EXPECT_NEAR(std::exp(average - *answer.log_evidence), 1,
                kFilterErrors * spread * std::exp(average - *answer.log_evidence));
  }
  for (std::size_t k = 0; k < program.components(); ++k) {
    SCOPED_TRACE(k);
    const double known = answer.error.empty() ? 0 : answer.error[k] / answer.sd[k];
    const Ratio mean = ratio(weights, means[k]), square = ratio(weights, squares[k]);
    EXPECT_LT(mean.error, 0.3) << "too few particles to judge";
    EXPECT_NEAR(mean.value, 0, kFilterErrors * std::hypot(mean.error, known));
    EXPECT_NEAR(square.value, 1, kFilterErrors * std::hypot(square.error, 2 * known));
  }
}

}  // namespace psn
