// One posterior by each of the exact engines, with many samples.
#pragma once

#include <utility>
#include <vector>

#include "psn/core/in_process.h"
#include "psn/infer/importance.h"
#include "psn/infer/metropolis.h"
#include "tests/law/statistics.h"

namespace psn {

enum class ExactEngine { kImportance, kLmh, kRmh };

inline Posterior infer(ExactEngine engine, const Model& model, const Observations& data,
                       std::vector<Query> queries, MetropolisOptions options = {}) {
  InProcess simulator(model);
  options.samples = 200'000;
  options.queries = std::move(queries);
  options.seed = 2;
  if (engine == ExactEngine::kImportance) return importance_sampling(simulator, data, options);
  options.burn_in = 5'000;
  options.random_walk = engine == ExactEngine::kRmh;
  return metropolis_hastings(simulator, data, options).posterior;
}

// Chains know none.
inline void expect_log_evidence(const Posterior& posterior, double exact) {
  if (posterior.chains() > 0) return;
  EXPECT_NEAR(posterior.log_evidence(), exact,
              kStandardErrors / std::sqrt(posterior.effective_sample_size()));
}

}  // namespace psn
