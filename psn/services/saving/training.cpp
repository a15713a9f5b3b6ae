#include <nlohmann/json.hpp>

#include "psn/services/option_names.h"
#include "psn/services/saving/parts.h"
#include "psn/services/saving/results.h"
#include "psn/services/training_history.h"

namespace psn::services {

nlohmann::ordered_json json_of(const TrainingResult& result, const TrainingJob& /*job*/) {
  auto json = progress_json(result.last, result.infers);
  json["seconds"] = result.last.seconds;
  json["traces_per_second"] = result.traces_per_second();
  json["finished"] = result.last.finished;
  json["verdict"] = with_option_names(result.verdict);
  json["warnings"] = with_option_names(result.warnings);
  add_failures(result.failures, json);
  return json;
}

void save_summary(const TrainingResult& result, const TrainingJob& job) {
  OutputDirectory log(job.log);
  if (!log) return;
  log.write("summary.json", json_of(result, job).dump(2) + "\n");
  log.publish();
}

}  // namespace psn::services
