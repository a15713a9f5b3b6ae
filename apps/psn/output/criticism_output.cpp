#include "apps/psn/output/criticism_output.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "apps/psn/output/evidence_output.h"
#include "apps/psn/output/report_output.h"

namespace psn::app {
namespace {

using Json = nlohmann::ordered_json;
using services::CriticisedObservation;
using services::CriticisedSite;
using services::CriticismJob;
using services::CriticismResult;

const char* engine_name(services::Engine engine) {
  if (engine == services::Engine::kCompiled) return "ic";
  return engine == services::Engine::kNetwork ? "network" : "is";
}

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

Json criticism_json(const CriticismResult& result, const CriticismJob& job) {
  Json json =
      verdict_json("criticism", job.simulation.model, job.simulation.seed, 0, result.verdict);
  json["engine"] = engine_name(job.engine);
  json["network"] = job.network.empty() ? Json(nullptr) : Json(job.network);
  json["replicates"] = result.replicates;
  json["draws"] = job.simulation.count;
  json["ess"] = result.ess;
  json["khat"] = result.khat;
  json["p_value"] = result.p_value;
  json["false_discovery_rate"] = services::kFalseDiscoveries;
  Json& observations = json["observations"] = Json::array();
  for (const CriticisedObservation& one : result.observations) {
    Json& added = observations.emplace_back(Json{{"name", one.name}, {"sites", one.sites}});
    add_criticism(one, one.blamed, added);
  }
  Json& sites = json["sites"] = Json::array();
  for (const CriticisedSite& site : result.sites) sites.push_back(site_json(site));
  add_failures(result.failures, json);
  return json;
}

void print_criticism(const CriticismResult& result, const CriticismJob& job) {
  constexpr std::size_t kShown = 12;
  fmt::print("{} values of {}, among {} data sets of the model, {} draws of each posterior\n",
             result.sites.size(), job.simulation.model, result.replicates, job.simulation.count);
  fmt::print(
      "\nby site, the worst first; surprise in nats; p: share of the model's data as bad; !: "
      "blamed\n");
  fmt::print("  {:>10} {:>22} {:>9} {:>7} {:>7}\n", "value", "90 % of predictions", "surprise",
             "usual", "p");
  for (std::size_t i = 0; i < std::min(kShown, result.sites.size()); ++i) {
    const CriticisedSite& site = result.sites[i];
    const std::string range =
        site.predicted ? fmt::format("{:.4g} to {:.4g}", site.predicted->q05, site.predicted->q95)
                       : "";
    fmt::print("  {:>10} {:>22} {:9.3g} {:7.3g} {:7.4f} {} {}{}\n",
               site.value ? fmt::format("{:.5g}", *site.value) : "a vector", range, site.surprise,
               site.usual.q50, site.p_value, site.blamed ? '!' : ' ', site.address,
               site.component ? fmt::format("[{}]", *site.component) : "");
  }
  if (result.sites.size() > kShown) {
    fmt::print("  ... and {} more (--json)\n", result.sites.size() - kShown);
  }
  for (const CriticisedObservation& one : result.observations) {
    if (one.sites < 2) continue;
    fmt::print("all {} of {}: surprise {:.3g} on average, {:.3g} is usual; p {:.4f}{}\n", one.sites,
               one.name, one.surprise, one.usual.q50, one.p_value, one.blamed ? " !" : "");
  }
  print_verdict(result.verdict);
}

}  // namespace psn::app
