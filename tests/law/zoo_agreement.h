// A program of the zoo under one of psn's engines, against its answer.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "experiments/zoo/zoo.h"
#include "psn/core/in_process.h"
#include "psn/infer/importance.h"
#include "psn/infer/metropolis.h"
#include "tests/law/statistics.h"

namespace psn {

enum class Engine { kImportance, kLmh, kRmh };

struct ZooRun {
  std::string name;
  Engine engine;
  std::uint64_t samples;
};

inline std::string zoo_test_name(const std::string& model) {
  std::string name = model.substr(4);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

inline zoo::Program zoo_program(const std::string& name) {
  for (zoo::Program& program : zoo::programs()) {
    if (program.model.name == name) return program;
  }
  throw std::invalid_argument(name);
}

inline Posterior zoo_posterior(const zoo::Program& program, Engine engine, std::uint64_t samples) {
  InProcess simulator(program.model);
  MetropolisOptions options;
  options.samples = samples;
  options.queries = program.judged;
  options.seed = 1;
  options.parallelism = {64, 2};
  if (engine == Engine::kImportance) {
    return importance_sampling(simulator, program.observed, options);
  }
  options.burn_in = samples / 10;
  options.chains = 8;
  options.random_walk = engine == Engine::kRmh;
  return metropolis_hastings(simulator, program.observed, options).posterior;
}

// 4.9 standard errors of both sides, one false alarm in a million seeds for each mean. Standard
// deviations are judged as those of a distribution whose kurtosis is at most 6.
inline void expect_agreement(const zoo::Program& program, Engine engine, std::uint64_t samples) {
  const zoo::Answer answer = program.answer();
  const Posterior posterior = zoo_posterior(program, engine, samples);
  std::size_t k = 0;
  for (const Query& query : program.judged) {
    for (std::size_t i = 0; i < element_count(query.shape); ++i, ++k) {
      SCOPED_TRACE(query.name + " " + std::to_string(i));
      const double ess = effective_sample_size(posterior, query.name, i);
      ASSERT_GT(ess, 50) << "too few effective samples to judge";
      const double sd = answer.sd[k];
      const double error =
          std::hypot(sd / std::sqrt(ess), answer.error.empty() ? 0 : answer.error[k]);
      EXPECT_NEAR(posterior.mean(query.name, i), answer.mean[k], kStandardErrors * error);
      EXPECT_NEAR(std::sqrt(posterior.variance(query.name, i)) / sd, 1,
                  kStandardErrors * std::sqrt(5.0 / 4) * error / sd);
    }
  }
  if (engine == Engine::kImportance && answer.log_evidence) {
    EXPECT_NEAR(posterior.log_evidence(), *answer.log_evidence,
                kStandardErrors / std::sqrt(posterior.effective_sample_size()));
  }
}

}  // namespace psn
