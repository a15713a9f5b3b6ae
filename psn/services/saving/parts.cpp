#include "psn/services/saving/parts.h"

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "psn/services/option_names.h"
#include "psn/services/warnings.h"

namespace psn::services {
namespace {

using Json = nlohmann::ordered_json;

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

// Four digits are more than a figure shows.
Json short_list(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double x : values) list.push_back(std::round(x * 1e4) / 1e4);
  return list;
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

void add_summary(const PosteriorSummary& summary, Json& json) {
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

void add_report(const RunReport& report, Json& json) {
  if (report.surrogate) {
    auto& quality = json["surrogate"] = {{"kl_nats_per_trace", nullptr}, {"kl_threshold", kMostKl}};
    if (const auto& kl = report.surrogate->kl) {
      quality["kl_nats_per_trace"] = kl->nats;
      quality["kl_standard_error"] = kl->standard_error;
      quality["held_out_traces"] = kl->traces;
    }
  }
  if (report.fallbacks) {
    json["fallbacks"] = report.fallbacks->taken;
    json["fallbacks_refused"] = report.fallbacks->refused;
  }
  if (!report.started_anew.empty()) json["started_anew"] = report.started_anew;
  add_failures(report.failures, json);
}

void add_failures(const Failures& failures, Json& json) {
  if (failures.runs == 0) return;
  json["failed_runs"] = {
      {"count", failures.runs}, {"causes", failures.by_cause}, {"last", failures.last}};
}

void add_learned_tags(const std::vector<std::string>& learned, Json& json) {
  if (!learned.empty()) json["learned"] = learned;
}

void add_observation_use(const ObservationsUse& use, Json& json) {
  auto by_name = Json::object();
  for (const ObservationUse& observation : use.observations) {
    auto& entry =
        by_name[observation.name] = {{"values", observation.values}, {"used", observation.used}};
    if (observation.values > 0) entry["unused_share"] = observation.unused;
    if (observation.partly_used > 0) entry["partly_used_share"] = observation.partly_used;
    if (observation.used_twice > 0) entry["used_twice_share"] = observation.used_twice;
  }
  json["observations"] = std::move(by_name);
  if (use.prior) json["prior"] = true;
}

Json curve_json(const std::optional<evidence::Curve>& curve) {
  if (!curve || curve->z.empty()) return nullptr;
  return {{"count", curve->count},
          {"z", short_list(curve->z)},
          {"difference", short_list(curve->difference)},
          {"low", short_list(curve->low)},
          {"high", short_list(curve->high)},
          {"p_value", curve->p_value},
          {"adjusted_p_value", curve->adjusted_p_value},
          {"outside", curve->outside}};
}

Json verdict_json(const char* kind, const std::string& model, std::uint64_t seed, double tolerance,
                  const evidence::Verdict& verdict) {
  Json tests = Json::array();
  for (const evidence::Test& test : verdict.tests) {
    tests.push_back({{"test", test.test},
                     {"what", test.what},
                     {"p_value", test.p_value},
                     {"adjusted_p_value", test.adjusted_p_value},
                     {"failed", test.failed}});
  }
  return {{"kind", kind},
          {"model", model},
          {"seed", seed},
          {"passed", verdict.passed},
          {"undecided", verdict.undecided},
          {"reasons", with_option_names(verdict.reasons)},
          {"false_alarm_rate", verdict.false_alarm_rate},
          {"tolerance", tolerance},
          {"tests", std::move(tests)}};
}

void save_with(const Json& summary, const std::string& config, OutputDirectory& out) {
  out.write(kConfigFile, config);
  out.write("summary.json", summary.dump(2) + "\n");
  out.publish();
}

}  // namespace psn::services
