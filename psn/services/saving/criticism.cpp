#include "psn/services/saving/results.h"

#include <nlohmann/json.hpp>

#include "psn/services/engine_names.h"
#include "psn/services/option_names.h"
#include "psn/services/saving/parts.h"

namespace psn::services {
namespace {

using Json = nlohmann::ordered_json;

Json spread_json(const evidence::Spread& spread) {
  return {{"q05", spread.q05}, {"q50", spread.q50}, {"q95", spread.q95}};
}

// What sites and observations have in common.
void add_criticism(const evidence::SiteCriticism& one, bool blamed, Json& json) {
  json["surprise"] = one.surprise;
  json["usual_surprise"] = spread_json(one.usual);
  json["p_value"] = one.p_value;
  json["q_value"] = one.q_value;
  json["blamed"] = blamed;
}

Json site_json(const CriticisedSite& site) {
  const auto known = [](const auto& x) { return x ? Json(*x) : Json(nullptr); };
  Json json{{"address", site.address},
            {"name", site.name},
            {"component", known(site.component)},
            {"value", known(site.value)},
            {"predicted", site.predicted ? spread_json(*site.predicted) : Json(nullptr)},
            {"pit", site.pit}};
  add_criticism(site, site.blamed, json);
  return json;
}

}  // namespace

Json json_of(const CriticismResult& result, const CriticismJob& job) {
  Json json =
      verdict_json("criticism", job.simulation.model, job.simulation.seed, 0, result.verdict);
  json["engine"] = name_of(job.engine);
  json["network"] = job.network.empty() ? Json(nullptr) : Json(job.network);
  json["replicates"] = result.replicates;
  json["draws"] = job.simulation.count;
  json["ess"] = result.ess;
  json["khat"] = result.khat;
  json["p_value"] = result.p_value;
  json["false_discovery_rate"] = kFalseDiscoveries;
  Json& observations = json["observations"] = Json::array();
  for (const CriticisedObservation& one : result.observations) {
    Json& added = observations.emplace_back(Json{{"name", one.name}, {"sites", one.sites}});
    add_criticism(one, one.blamed, added);
  }
  Json& sites = json["sites"] = Json::array();
  for (const CriticisedSite& site : result.sites) sites.push_back(site_json(site));
  add_failures(result.failures, json);
  json["warnings"] = with_option_names(result.warnings);
  return json;
}

void save(const CriticismResult& result, const CriticismJob& job, const std::string& config,
          OutputDirectory& out) {
  save_with(json_of(result, job), config, out);
}

}  // namespace psn::services
