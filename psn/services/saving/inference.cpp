#include <nlohmann/json.hpp>

#include "psn/services/engine_names.h"
#include "psn/services/option_names.h"
#include "psn/services/saving/parts.h"
#include "psn/services/saving/results.h"

namespace psn::services {
namespace {

nlohmann::ordered_json json_of(const StoppingFigures& stopped) {
  static constexpr const char* kReasons[] = {"precision", "runs", "samples"};
  nlohmann::ordered_json json{{"reason", kReasons[static_cast<int>(stopped.reason)]},
                              {"looked_every", stopped.every},
                              {"conditions", nlohmann::ordered_json::array()}};
  for (const StoppingFigures::Condition& c : stopped.conditions) {
    json["conditions"].push_back({{"condition", c.text}, {"figure", c.figure}, {"holds", c.holds}});
  }
  return json;
}

}  // namespace

nlohmann::ordered_json json_of(const InferenceResult& result, const InferenceJob& job) {
  nlohmann::ordered_json json{{"kind", "inference"},
                              {"model", result.model},
                              {"engine", name_of(result.engine)},
                              {"seed", job.simulation.seed}};
  if (const auto& correction = result.correction) {
    auto& figures = json["correction"] = {{"runs", correction->runs},
                                          {"ess_before", correction->ess_before},
                                          {"khat_before", correction->khat_before},
                                          {"seconds", correction->seconds},
                                          {"diverged", correction->diverged}};
    add_failures(correction->failures, figures);
  }
  if (const auto& delayed = result.delayed) {
    json["delayed"] = {{"moves", delayed->moves},
                       {"longest_stay", delayed->longest_stay},
                       {"khat", delayed->khat}};
  }
  if (const auto& marginal = result.marginal) {
    json["marginal"] = {{"parameters", job.parameters},
                        {"runs", marginal->runs},
                        {"variance", marginal->variance},
                        {"moves", marginal->moves},
                        {"longest_stay", marginal->longest_stay}};
  }
  if (const auto& kept = result.kept) {
    json["kept"] = {{"store", job.keep}, {"found", kept->found}, {"runs", kept->runs}};
  }
  if (result.stopped) json["stopped"] = json_of(*result.stopped);
  add_observation_use(result.use, json);
  add_summary(result.summary, json);
  add_learned_tags(result.learned, json);
  add_report(result.report, json);
  json["simulator_runs"] = result.simulator_runs;
  json["survey_runs"] = result.survey_runs;
  json["warnings"] = with_option_names(result.warnings);
  return json;
}

void save(const InferenceResult& result, const InferenceJob& job, const std::string& config,
          OutputDirectory& out) {
  out.write(kConfigFile, config);
  out.write("observations.json", observations_json(job.observations));
  if (result.draws) out.write(kDrawsFile, result.draws->serialize());
  result.posterior.save(out.file("posterior.safetensors"));
  result.posterior.write_csv(out.file("posterior.csv"));
  out.write("summary.json", json_of(result, job).dump(2) + "\n");
  out.publish();
}

}  // namespace psn::services
