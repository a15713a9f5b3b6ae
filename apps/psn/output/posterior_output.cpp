#include "apps/psn/output/posterior_output.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace psn::app {
namespace {

using Json = nlohmann::ordered_json;
using services::ColumnSummary;

constexpr std::array<const char*, 5> kQuantileNames{"q05", "q25", "q50", "q75", "q95"};

// One number for a scalar, a flat list for an array.
Json per_component(const ColumnSummary& column, const std::vector<double>& values) {
  return column.scalar ? Json(values[0]) : Json(values);
}

Json column_json(const ColumnSummary& column) {
  Json json;
  json["mean"] = per_component(column, column.mean);
  json["sd"] = per_component(column, column.sd);
  for (std::size_t q = 0; q < kQuantileNames.size(); ++q) {
    json[kQuantileNames[q]] = per_component(column, column.quantiles[q]);
  }
  if (column.probability < 1 - 1e-9) json["probability"] = column.probability;
  if (!column.ess.empty()) {
    json["ess"] = per_component(column, column.ess);
    json["rhat"] = per_component(column, column.rhat);
  }
  return json;
}

// Figures of too few samples are NaN.
std::string known_figure(double figure, int digits) {
  return std::isnan(figure) ? "unknown" : fmt::format("{:.{}f}", figure, digits);
}

}  // namespace

Json columns_json(const std::vector<ColumnSummary>& columns) {
  // Put behind the others without looking for one of its name, as [] would.
  Json json = Json::object();
  for (const ColumnSummary& column : columns) {
    json.get_ref<Json::object_t&>().emplace_back(column.name, column_json(column));
  }
  return json;
}

void print_columns(const std::vector<ColumnSummary>& columns) {
  fmt::print("{:>16} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10}\n", "", "mean", "sd", "5%",
             "25%", "50%", "75%", "95%");
  for (const ColumnSummary& column : columns) {
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

void add_summary(const services::PosteriorSummary& summary, Json& json) {
  json["samples"] = summary.samples;
  json["posterior"] = columns_json(summary.columns);
  if (summary.chains > 0) {
    json["chains"] = summary.chains;
    json["ess"] = summary.ess;
    json["rhat"] = summary.rhat;
    json["acceptance"] = summary.acceptance;
  } else if (summary.approximate) {
    json["approximate"] = true;
  } else {
    json["ess"] = summary.ess;
    json["log_evidence"] = summary.log_evidence;
    json["khat"] = summary.khat;
    json["khat_threshold"] = summary.khat_threshold;
  }
  json["traces_per_second"] = summary.traces_per_second;
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
