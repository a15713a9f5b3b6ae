#include "apps/psn/output/posterior_output.h"

#include <fmt/format.h>

#include <cmath>

namespace psn::app {
namespace {

// Figures of too few samples are NaN.
std::string known_figure(double figure, int digits) {
  return std::isnan(figure) ? "unknown" : fmt::format("{:.{}f}", figure, digits);
}

}  // namespace

void print_columns(const std::vector<services::ColumnSummary>& columns) {
  fmt::print("{:>16} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10}\n", "", "mean", "sd", "5%",
             "25%", "50%", "75%", "95%");
  for (const services::ColumnSummary& column : columns) {
    for (std::size_t k = 0; k < column.width(); ++k) {
      fmt::print("{:>16} {:>10.5g} {:>10.5g}",
                 column.scalar ? column.name : fmt::format("{}[{}]", column.name, k),
                 column.mean[k], column.sd[k]);
      for (const auto& quantile : column.quantiles) fmt::print(" {:>10.5g}", quantile[k]);
      if (column.probability < 1 - 1e-9) {
        fmt::print("  in {:.2f} % of traces", 100 * column.probability);
      }
      fmt::print("\n");
    }
  }
}

void print_summary(const services::PosteriorSummary& summary, std::uint64_t failed) {
  print_columns(summary.columns);
  if (summary.approximate) {
    fmt::print("approximate: {} draws of the network, not weighed", summary.samples);
  } else if (summary.chains == 0) {
    fmt::print("ESS {} of {}, log evidence {:.4f}, Pareto k-hat {} (reliable below {:.2f})",
               known_figure(summary.ess, 0), summary.samples, summary.log_evidence,
               known_figure(summary.khat, 2), std::max(0.0, summary.khat_threshold));
  } else {
    fmt::print("ESS {} of {}, split R-hat {}, acceptance {:.3f}", known_figure(summary.ess, 0),
               summary.samples, known_figure(summary.rhat, 4), summary.acceptance);
  }
  fmt::print(", {:.0f} traces/s", summary.traces_per_second);
  if (failed > 0) fmt::print(", {} runs failed", failed);
  fmt::print("\n");
}

}  // namespace psn::app
