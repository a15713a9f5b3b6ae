#include <nlohmann/json.hpp>

#include "psn/services/engine_names.h"
#include "psn/services/option_names.h"
#include "psn/services/saving/parts.h"
#include "psn/services/saving/results.h"

namespace psn::services {

nlohmann::ordered_json json_of(const EvidenceResult& result, const EvidenceJob& job) {
  nlohmann::ordered_json json{{"kind", "evidence"},
                              {"model", result.best},
                              {"seed", job.simulation.seed},
                              {"samples", job.simulation.count},
                              {"models", nlohmann::ordered_json::array()}};
  for (const ModelEvidence& e : result.models) {
    json["models"].push_back({{"model", e.model},
                              {"engine", name_of(e.engine)},
                              {"log_evidence", e.log_evidence},
                              {"error", e.error},
                              {"ess", e.ess},
                              {"khat", e.khat},
                              {"log_bayes_factor", e.log_bayes_factor},
                              {"probability", e.probability},
                              {"simulator_runs", e.simulator_runs},
                              {"survey_runs", e.survey_runs}});
  }
  json["warnings"] = with_option_names(result.warnings);
  return json;
}

void save(const EvidenceResult& result, const EvidenceJob& job, const std::string& config,
          OutputDirectory& out) {
  out.write("observations.json", observations_json(job.observations));
  save_with(json_of(result, job), config, out);
}

}  // namespace psn::services
