#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "psn/services/export_result.h"

namespace psn::services {
namespace {

using Dimensions = std::vector<NetcdfDimension>;

// A slash parts groups; chain and draw are dimensions.
std::string netcdf_name(std::string name) {
  std::replace(name.begin(), name.end(), '/', '|');
  return name == "chain" || name == "draw" ? name + "_" : name;
}

void add_extents(Dimensions& dimensions, const std::string& name, const Shape& shape) {
  for (std::size_t d = 0; d < shape.size(); ++d) {
    dimensions.push_back({fmt::format("{}_dim_{}", name, d), static_cast<std::size_t>(shape[d])});
  }
}

Dimensions sample_dimensions(const Posterior& samples) {
  const std::size_t chains = std::max<std::size_t>(1, samples.chains());
  return {{"chain", chains}, {"draw", samples.size() / chains}};
}

// 0, 1, 2, ... along a dimension.
NetcdfVariable coordinate(const NetcdfDimension& dimension) {
  NetcdfVariable variable{dimension.name, {dimension}, {}, true};
  variable.values.resize(dimension.extent);
  std::iota(variable.values.begin(), variable.values.end(), 0.0);
  return variable;
}

NetcdfGroup empty_group(const std::string& name, const Posterior& samples) {
  NetcdfGroup group{name, {}};
  for (const auto& dimension : sample_dimensions(samples)) {
    group.variables.push_back(coordinate(dimension));
  }
  return group;
}

NetcdfGroup group_of(const std::string& name, const Posterior& samples,
                     const std::function<bool(const std::string&)>& wanted) {
  NetcdfGroup group = empty_group(name, samples);
  for (const std::string& column_name : samples.names()) {
    if (!wanted(column_name)) continue;
    const Column& column = samples.column(column_name);
    NetcdfVariable variable{netcdf_name(column_name), sample_dimensions(samples), column.data};
    add_extents(variable.dimensions, variable.name, column.shape);
    group.variables.push_back(std::move(variable));
  }
  return group;
}

NetcdfGroup sample_stats(const Posterior& samples) {
  NetcdfGroup group = empty_group("sample_stats", samples);
  group.variables.push_back({"log_weight", sample_dimensions(samples), samples.log_weights()});
  return group;
}

NetcdfGroup observed_data(const Observations& observations) {
  NetcdfGroup group{"observed_data", {}};
  for (const auto& [name, value] : observations.values()) {
    NetcdfVariable variable{netcdf_name(name), {}, {value.begin(), value.end()}};
    add_extents(variable.dimensions, variable.name, value.shape());
    group.variables.push_back(std::move(variable));
  }
  return group;
}

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

NetcdfFile inference_data(const SavedResult& result, const Observations& observations,
                          const SavedResult* predictive, const SavedResult* prior) {
  const auto all = [](const std::string&) { return true; };
  NetcdfFile file;
  file.attributes = {{"inference_library", "psn"}, {"model", result.model}};
  file.groups.push_back(group_of("posterior", result.samples, all));
  const std::vector<double>& weights = result.samples.log_weights();
  const bool weighted = std::any_of(weights.begin(), weights.end(),
                                    [&](double weight) { return weight != weights[0]; });
  file.groups.back().attributes = {{"engine", result.engine},
                                   {"weighted", weighted ? "yes" : "no"}};
  file.groups.push_back(sample_stats(result.samples));
  if (!observations.empty()) file.groups.push_back(observed_data(observations));
  if (predictive) file.groups.push_back(group_of("posterior_predictive", predictive->samples, all));
  if (!prior) return file;
  // What is observed is predicted by the prior; the rest is it.
  const std::vector<std::string> predicted =
      predictive ? predictive->samples.names() : std::vector<std::string>{};
  const auto observed = [&](const std::string& name) {
    return observations.contains(name) || has(predicted, name);
  };
  file.groups.push_back(
      group_of("prior", prior->samples, [&](const std::string& name) { return !observed(name); }));
  file.groups.push_back(group_of("prior_predictive", prior->samples, observed));
  return file;
}

}  // namespace psn::services
