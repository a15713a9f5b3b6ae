#include "psn/services/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "psn/base/error.h"
#include "psn/base/numerics.h"
#include "psn/base/text.h"
#include "psn/services/posterior_summary.h"
#include "psn/services/saved_result.h"

namespace psn::services {
namespace {

// What is left of the error of independent runs if some repeat a sample.
double error_factor(const SavedResult& result) {
  if (!result.corrected_size) return 1;
  return std::sqrt(result.samples.effective_sample_size() / *result.corrected_size);
}

VariableSummary summarize_component(const SavedResult& result, const ColumnSummary& column,
                                    std::size_t k, const SummaryJob& job) {
  const Posterior& samples = result.samples;
  VariableSummary summary{
      .name = column.scalar ? column.name : fmt::format("{}[{}]", column.name, k),
      .mean = column.mean[k],
      .mcse = mean_standard_error(samples, column.name, k) * error_factor(result),
      .sd = column.sd[k],
      .quantiles = samples.quantiles(column.name, job.quantiles, k),
      .hdi = highest_density_interval(samples, column.name, job.hdi, k),
      .rhat = column.rhat.empty() ? kNaN : column.rhat[k],
      .probability = column.probability,
      .apart = kNaN};
  const double ratio = summary.sd / summary.mcse;
  summary.ess = std::isfinite(ratio) ? ratio * ratio : kNaN;
  return summary;
}

bool is_wanted(const std::string& name, const std::vector<std::string>& wanted) {
  const std::string column = name.substr(0, name.rfind('['));
  return wanted.empty() || std::any_of(wanted.begin(), wanted.end(), [&](const std::string& w) {
           return w == name || w == column;
         });
}

SummarizedResult summarize_result(const std::string& folder, const SummaryJob& job) {
  const SavedResult saved = load_result(folder);
  SummarizedResult result{
      folder, saved.model, saved.engine, saved.samples.size(), saved.samples.chains(), {}};
  for (const ColumnSummary& column : summarize_columns(saved.samples)) {
    for (std::size_t k = 0; k < column.width(); ++k) {
      VariableSummary variable = summarize_component(saved, column, k, job);
      if (is_wanted(variable.name, job.queries)) result.variables.push_back(std::move(variable));
    }
  }
  return result;
}

void compare(SummarizedResult& result, const SummarizedResult& first) {
  for (VariableSummary& variable : result.variables) {
    const auto same =
        std::find_if(first.variables.begin(), first.variables.end(),
                     [&](const VariableSummary& other) { return other.name == variable.name; });
    if (same == first.variables.end()) continue;
    variable.apart = (variable.mean - same->mean) / std::hypot(variable.mcse, same->mcse);
  }
}

void check_names(const SummaryJob& job, const std::vector<SummarizedResult>& results) {
  std::set<std::string> known;
  for (const SummarizedResult& result : results) {
    for (const VariableSummary& v : result.variables) {
      known.insert({v.name, v.name.substr(0, v.name.rfind('['))});
    }
  }
  for (const std::string& name : job.queries) {
    if (known.contains(name)) continue;
    std::vector<std::string> all;
    for (const std::string& folder : job.folders) {
      const auto more = load_result(folder).samples.names();
      all.insert(all.end(), more.begin(), more.end());
    }
    throw InvalidArgument(
        fmt::format("`queries`: no result has '{}'{}", name, suggestion(name, all)));
  }
}

}  // namespace

std::vector<SummarizedResult> summarize_results(const SummaryJob& job) {
  std::vector<SummarizedResult> results;
  for (const std::string& folder : job.folders) results.push_back(summarize_result(folder, job));
  check_names(job, results);
  for (std::size_t i = 1; i < results.size(); ++i) compare(results[i], results[0]);
  return results;
}

}  // namespace psn::services
