// Results that were written to folders, variable by variable and side by side.
// Blocking; any thread.
#pragma once

#include <string>
#include <vector>

#include "psn/infer/estimates.h"

namespace psn::services {

struct SummaryJob {
  std::vector<std::string> folders;
  std::vector<std::string> queries;  // columns to take, with components or without; none: all
  std::vector<double> quantiles{0.05, 0.5, 0.95};
  double hdi = 0.9;  // mass of the narrowest interval
};

// A component of a column. NaN stands for what is not known: of a constant, of too few samples.
struct VariableSummary {
  std::string name;  // "x", "x[2]"
  double mean = 0, mcse = 0, sd = 0;
  std::vector<double> quantiles;  // as SummaryJob::quantiles
  Interval hdi{};
  // As many independent draws have the same error of the mean: (sd / mcse)^2.
  double ess = 0;
  double rhat = 0;         // of chains; else NaN
  double probability = 1;  // that a trace has it; all else is conditional on that
  // From the first result's mean, in standard errors of the difference; NaN for the first itself
  // and for what it does not have.
  double apart = 0;
};

struct SummarizedResult {
  std::string folder, model, engine;
  std::size_t samples = 0, chains = 0;  // chains 0: weighted samples
  std::vector<VariableSummary> variables;
};

// Throws DataError for folders without samples, InvalidArgument for names that no result has.
std::vector<SummarizedResult> summarize_results(const SummaryJob& job);

}  // namespace psn::services
