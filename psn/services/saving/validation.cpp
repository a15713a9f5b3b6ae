#include "psn/services/saving/results.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "psn/services/option_names.h"
#include "psn/services/saving/parts.h"

namespace psn::services {
namespace {

using Json = nlohmann::ordered_json;

Json validated_addresses(const ValidationResult& result) {
  constexpr std::size_t kWithCurves = 60;
  Json list = Json::array();
  for (const ValidatedAddress& a : result.addresses) {
    const bool drawn = list.size() < kWithCurves;
    list.push_back({{"address", a.address},
                    {"visits", a.visits},
                    {"value_kl", a.value},
                    {"transition_kl", a.transition},
                    {"closed_form", a.closed_form},
                    {"pit", drawn ? curve_json(a.places) : Json(nullptr)},
                    {"density", drawn ? curve_json(a.densities) : Json(nullptr)}});
  }
  return list;
}

Json validated_transitions(const ValidationResult& result) {
  constexpr std::size_t kMost = 200;
  Json list = Json::array();
  for (const ValidatedTransition& t : result.transitions) {
    if (list.size() == kMost) break;
    const auto departures = static_cast<double>(t.departures);
    list.push_back({{"from", t.from},
                    {"to", t.to},
                    {"departures", t.departures},
                    {"simulator", t.taken / departures},
                    {"surrogate", t.expected / departures},
                    {"p_value", t.p_value},
                    {"adjusted_p_value", t.adjusted_p_value},
                    {"failed", t.failed}});
  }
  return list;
}

Json speed_json(const ValidationResult& result) {
  const auto known = [](const std::optional<double>& x) { return x ? Json(*x) : Json(nullptr); };
  Json json{{"simulator", known(result.simulator_speed)},
            {"surrogate", known(result.surrogate_speed)},
            {"ratio", nullptr}};
  if (result.simulator_speed && result.surrogate_speed) {
    json["ratio"] = *result.surrogate_speed / *result.simulator_speed;
  }
  return json;
}

}  // namespace

Json json_of(const ValidationResult& result, const ValidationJob& job) {
  Json json = verdict_json("validation", job.simulation.model, job.simulation.seed, job.tolerance,
                           result.verdict);
  const ConditionalDeviation& conditional = result.conditional;
  json["surrogate"] = job.surrogate;
  if (!job.data.empty()) json["data"] = job.data;
  json["traces"] = conditional.traces;
  json["kl"] = {{"nats_per_trace", conditional.kl},
                {"standard_error", conditional.standard_error},
                {"most", job.most_kl},
                {"values", conditional.values},
                {"transitions", conditional.transitions}};
  json["unknown_mass"] = conditional.unknown_mass;
  json["most_unknown_mass"] = kMostUnknownMass;
  json["unseen_traces"] = conditional.unseen;
  json["path_total_variation"] = result.path_total_variation;
  json["speed"] = speed_json(result);
  json["classifier"] = nullptr;
  if (const auto& classifier = result.classifier) {
    json["classifier"] = {{"accuracy", classifier->accuracy},
                          {"most", classifier->most},
                          {"rows", classifier->rows},
                          {"columns", classifier->columns}};
  }
  json["addresses"] = validated_addresses(result);
  json["transitions"] = validated_transitions(result);
  add_failures(result.failures, json);
  json["warnings"] = with_option_names(result.warnings);
  return json;
}

void save(const ValidationResult& result, const ValidationJob& job, const std::string& config,
          OutputDirectory& out) {
  save_with(json_of(result, job), config, out);
}

}  // namespace psn::services
