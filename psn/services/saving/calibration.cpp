#include "psn/services/saving/results.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "psn/services/saving/parts.h"

namespace psn::services {
namespace {

using Json = nlohmann::ordered_json;

// Of at most 500 data sets, the first.
Json some(const std::vector<double>& values) {
  constexpr std::size_t kMost = 500;
  Json list = Json::array();
  for (std::size_t i = 0; i < std::min(kMost, values.size()); ++i) {
    list.push_back(std::round(values[i] * 1e4) / 1e4);
  }
  return list;
}

Json latents_json(const CalibrationResult& result) {
  constexpr std::size_t kWithCurves = 60;
  Json list = Json::array();
  for (const CalibratedLatent& latent : result.latents) {
    const bool drawn = list.size() < kWithCurves;
    list.push_back({{"name", latent.name},
                    {"datasets", latent.z_score.size()},
                    {"ranks", drawn ? curve_json(latent.ranks) : Json(nullptr)},
                    {"coverage", drawn ? curve_json(latent.coverage) : Json(nullptr)},
                    {"z_score", drawn ? some(latent.z_score) : Json::array()},
                    {"contraction", drawn ? some(latent.contraction) : Json::array()}});
  }
  return list;
}

}  // namespace

Json json_of(const CalibrationResult& result, const CalibrationJob& job) {
  Json json = verdict_json("calibration", job.simulation.model, job.simulation.seed, job.tolerance,
                           result.verdict);
  const bool weighted = !result.ess.empty();
  json["network"] = job.network;
  json["surrogate"] = job.surrogate.empty() ? Json(nullptr) : Json(job.surrogate);
  json["engine"] = weighted ? "ic" : "network";
  json["datasets"] = result.datasets;
  json["draws"] = job.simulation.count;
  json["latents"] = latents_json(result);
  json["tarp"] = curve_json(result.tarp);
  json["ess"] = weighted ? some(result.ess) : Json(nullptr);
  json["khat"] = weighted ? some(result.khat) : Json(nullptr);
  json["khat_threshold"] = result.khat_threshold;
  json["least_ess"] = result.least_ess;
  json["unreliable"] = result.unreliable;
  json["most_unreliable"] = kMostUnreliable;
  add_failures(result.failures, json);
  return json;
}

void save(const CalibrationResult& result, const CalibrationJob& job, const std::string& config,
          OutputDirectory& out) {
  save_with(json_of(result, job), config, out);
}

}  // namespace psn::services
