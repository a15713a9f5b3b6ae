#include "apps/psn/output/posterior_summary.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <functional>
#include <unordered_set>

#include "psn/base/numerics.h"
#include "psn/infer/diagnostics.h"

namespace psn::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<double, 5> kQuantiles{0.05, 0.25, 0.5, 0.75, 0.95};
constexpr std::array<const char*, 5> kQuantileNames{"q05", "q25", "q50", "q75", "q95"};

// One number for a scalar, a flat list for an array.
Json per_component(const Column& column, const std::function<double(std::size_t)>& f) {
  if (column.shape.empty()) return f(0);
  Json list = Json::array();
  for (std::size_t k = 0; k < column.width(); ++k) list.push_back(f(k));
  return list;
}

std::vector<double> component_of(const Posterior& posterior, const Column& column,
                                 std::size_t component) {
  std::vector<double> values(posterior.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = column.data[i * column.width() + component];
  }
  return values;
}

Json summarize_column(const Posterior& posterior, const std::string& name) {
  const Column& column = posterior.column(name);
  std::vector<std::vector<double>> quantiles;
  for (std::size_t k = 0; k < column.width(); ++k) {
    quantiles.push_back(posterior.quantiles(name, kQuantiles, k));
  }
  Json json;
  json["mean"] = per_component(column, [&](std::size_t k) { return posterior.mean(name, k); });
  json["sd"] =
      per_component(column, [&](std::size_t k) { return std::sqrt(posterior.variance(name, k)); });
  for (std::size_t q = 0; q < kQuantiles.size(); ++q) {
    json[kQuantileNames[q]] = per_component(column, [&](std::size_t k) { return quantiles[k][q]; });
  }
  const double probability = posterior.probability(name);
  if (probability < 1 - 1e-9) json["probability"] = probability;
  if (posterior.chains() > 0) {
    json["ess"] = per_component(
        column, [&](std::size_t k) { return effective_sample_size(posterior, name, k); });
    json["rhat"] = per_component(column, [&](std::size_t k) {
      return split_rhat({component_of(posterior, column, k), posterior.chains()});
    });
  }
  return json;
}

// The worst of a diagnostic over all components; NaN (a constant) does not count.
template <class Better>
double worst(const Json& columns, const char* key, Better better) {
  double result = kNaN;
  const auto take = [&](const Json& x) {
    if (x.is_number() && !std::isnan(x.get<double>()) &&
        (std::isnan(result) || better(result, x.get<double>()))) {
      result = x.get<double>();
    }
  };
  for (const auto& [name, column] : columns.items()) {
    const Json& value = column[key];
    if (value.is_array()) {
      for (const Json& x : value) take(x);
    } else {
      take(value);
    }
  }
  return result;
}

}  // namespace

Json summarize_columns(const Posterior& posterior) {
  // Put behind the others without looking for one of its name, as [] would.
  Json columns = Json::object();
  std::unordered_set<std::string> known;
  for (const std::string& name : posterior.names()) {
    if (!known.insert(name).second) continue;
    columns.get_ref<Json::object_t&>().emplace_back(name, summarize_column(posterior, name));
  }
  return columns;
}

Json summarize(const InferenceResult& result) {
  const Posterior& posterior = result.posterior;
  Json json{{"samples", posterior.size()}};
  json["posterior"] = summarize_columns(posterior);
  if (posterior.chains() > 0) {
    json["chains"] = posterior.chains();
    json["ess"] = worst(json["posterior"], "ess", std::greater<>());
    json["rhat"] = worst(json["posterior"], "rhat", std::less<>());
    json["acceptance"] = *result.acceptance;
  } else {
    const ParetoDiagnostic pareto = pareto_khat(posterior.log_weights());
    json["ess"] = result.effective_sample_size.value_or(posterior.effective_sample_size());
    json["log_evidence"] = posterior.log_evidence();
    json["khat"] = pareto.khat;
    json["khat_threshold"] = pareto.threshold;
  }
  json["traces_per_second"] = static_cast<double>(result.traces) / result.seconds;
  return json;
}

void print_columns(const Json& columns) {
  fmt::print("{:>16} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10}\n", "", "mean", "sd", "5%",
             "25%", "50%", "75%", "95%");
  const auto row = [](const std::string& label, const Json& column, std::optional<std::size_t> k) {
    fmt::print("{:>16}", label);
    for (const char* key : {"mean", "sd", "q05", "q25", "q50", "q75", "q95"}) {
      const Json& value = k ? column[key][*k] : column[key];
      fmt::print(" {:>10.5g}", value.is_number() ? value.get<double>() : kNaN);
    }
    if (column.contains("probability")) {
      fmt::print("  in {:.2f} % of traces", 100 * column["probability"].get<double>());
    }
    fmt::print("\n");
  };
  for (const auto& [name, column] : columns.items()) {
    if (column["mean"].is_array()) {
      for (std::size_t k = 0; k < column["mean"].size(); ++k) {
        row(fmt::format("{}[{}]", name, k), column, k);
      }
    } else {
      row(name, column, std::nullopt);
    }
  }
}

void print_table(const Json& json) {
  print_columns(json["posterior"]);
  fmt::print("ESS {:.0f} of {}", json["ess"].get<double>(), json["samples"].get<std::uint64_t>());
  if (json.contains("log_evidence")) {
    fmt::print(", log evidence {:.4f}, Pareto k-hat {:.2f} (reliable below {:.2f})",
               json["log_evidence"].get<double>(), json["khat"].get<double>(),
               std::max(0.0, json["khat_threshold"].get<double>()));
  } else {
    fmt::print(", split R-hat {:.4f}, acceptance {:.3f}", json["rhat"].get<double>(),
               json["acceptance"].get<double>());
  }
  fmt::print(", {:.0f} traces/s", json["traces_per_second"].get<double>());
  if (json.contains("failed_runs")) {
    fmt::print(", {} runs failed", json["failed_runs"]["count"].get<std::uint64_t>());
  }
  fmt::print("\n");
}

void warn_if_unreliable(const Json& json) {
  if (json.contains("khat") && json["khat"].get<double>() > json["khat_threshold"].get<double>()) {
    fmt::print(stderr,
               "psn: warning: Pareto k-hat {:.2f} is above {:.2f}: a few traces carry most of the "
               "weight, so these estimates are unreliable; use more traces or another engine\n",
               json["khat"].get<double>(), json["khat_threshold"].get<double>());
  }
  if (json["ess"].get<double>() < 50) {
    fmt::print(stderr,
               "psn: warning: the effective sample size is only {:.0f}: these estimates are "
               "unreliable\n",
               json["ess"].get<double>());
  }
  if (json.contains("rhat") && json["rhat"].get<double>() > 1.05) {
    fmt::print(stderr,
               "psn: warning: split R-hat {:.3f} is above 1.05: the chains disagree; use more "
               "samples or burn-in\n",
               json["rhat"].get<double>());
  }
}

}  // namespace psn::app
