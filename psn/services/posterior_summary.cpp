#include "psn/services/posterior_summary.h"

#include <cmath>
#include <functional>
#include <unordered_set>

#include "psn/base/numerics.h"
#include "psn/infer/diagnostics.h"

namespace psn::services {
namespace {

std::vector<double> component_of(const Posterior& posterior, const Column& column,
                                 std::size_t component) {
  std::vector<double> values(posterior.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = column.data[i * column.width() + component];
  }
  return values;
}

ColumnSummary summarize_column(const Posterior& posterior, const std::string& name) {
  const Column& column = posterior.column(name);
  ColumnSummary summary{.name = name, .scalar = column.shape.empty()};
  for (std::size_t k = 0; k < column.width(); ++k) {
    summary.mean.push_back(posterior.mean(name, k));
    summary.sd.push_back(std::sqrt(posterior.variance(name, k)));
    const std::vector<double> quantiles = posterior.quantiles(name, kSummaryQuantiles, k);
    for (std::size_t q = 0; q < quantiles.size(); ++q) {
      summary.quantiles[q].push_back(quantiles[q]);
    }
    if (posterior.chains() == 0) continue;
    summary.ess.push_back(effective_sample_size(posterior, name, k));
    summary.rhat.push_back(split_rhat({component_of(posterior, column, k), posterior.chains()}));
  }
  summary.probability = posterior.probability(name);
  return summary;
}

// The worst of a diagnostic over all components; NaN (a constant) does not count.
template <class Better>
double worst(const std::vector<ColumnSummary>& columns, std::vector<double> ColumnSummary::*what,
             Better better) {
  double result = kNaN;
  for (const ColumnSummary& column : columns) {
    for (const double x : column.*what) {
      if (!std::isnan(x) && (std::isnan(result) || better(result, x))) result = x;
    }
  }
  return result;
}

}  // namespace

std::vector<ColumnSummary> summarize_columns(const Posterior& posterior) {
  std::vector<ColumnSummary> columns;
  std::unordered_set<std::string> known;
  for (const std::string& name : posterior.names()) {
    if (known.insert(name).second) columns.push_back(summarize_column(posterior, name));
  }
  return columns;
}

PosteriorSummary summarize(const Posterior& posterior, const EngineFigures& figures) {
  PosteriorSummary summary{.samples = posterior.size(), .columns = summarize_columns(posterior)};
  if (posterior.chains() > 0) {
    summary.chains = posterior.chains();
    summary.ess = worst(summary.columns, &ColumnSummary::ess, std::greater<>());
    summary.rhat = worst(summary.columns, &ColumnSummary::rhat, std::less<>());
    summary.acceptance = *figures.acceptance;
  } else if (figures.approximate) {
    summary.approximate = true;
    summary.ess = static_cast<double>(summary.samples);
  } else {
    const ParetoDiagnostic pareto = pareto_khat(posterior.log_weights());
    summary.ess = figures.effective_sample_size.value_or(posterior.effective_sample_size());
    summary.log_evidence = posterior.log_evidence();
    summary.khat = pareto.khat;
    summary.khat_threshold = pareto.threshold;
  }
  summary.traces_per_second = static_cast<double>(figures.traces) / figures.seconds;
  return summary;
}

}  // namespace psn::services
