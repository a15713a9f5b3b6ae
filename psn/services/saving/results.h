// Results as they are kept: their summary as JSON, and the files of the folder of --out, which
// other services read again (docs/formats). Internal header of the services and of programs that
// ask for them. Blocking; any thread.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "psn/services/calibrate.h"
#include "psn/services/compare.h"
#include "psn/services/criticise.h"
#include "psn/services/graph.h"
#include "psn/services/infer.h"
#include "psn/services/model_evidence.h"
#include "psn/services/output_directory.h"
#include "psn/services/predict.h"
#include "psn/services/simulate.h"
#include "psn/services/train.h"
#include "psn/services/validate.h"

namespace psn::services {

nlohmann::ordered_json json_of(const SimulationResult& result, const SimulationJob& job);
nlohmann::ordered_json json_of(const PredictionResult& result, const PredictionJob& job);
nlohmann::ordered_json json_of(const GraphResult& result, const GraphJob& job);
nlohmann::ordered_json json_of(const InferenceResult& result, const InferenceJob& job);
nlohmann::ordered_json json_of(const EvidenceResult& result, const EvidenceJob& job);
nlohmann::ordered_json json_of(const ComparisonResult& result, const ComparisonJob& job);
nlohmann::ordered_json json_of(const ValidationResult& result, const ValidationJob& job);
nlohmann::ordered_json json_of(const CalibrationResult& result, const CalibrationJob& job);
nlohmann::ordered_json json_of(const CriticismResult& result, const CriticismJob& job);
nlohmann::ordered_json json_of(const TrainingResult& result, const TrainingJob& job);

// Writes the files and publishes them; `config`: all options as TOML. Throws DataError.
void save(const SimulationResult& result, const SimulationJob& job, const std::string& config,
          OutputDirectory& out);
void save(const PredictionResult& result, const PredictionJob& job, const std::string& config,
          OutputDirectory& out);
void save(const GraphResult& result, const GraphJob& job, const std::string& config,
          OutputDirectory& out);
void save(const InferenceResult& result, const InferenceJob& job, const std::string& config,
          OutputDirectory& out);
void save(const EvidenceResult& result, const EvidenceJob& job, const std::string& config,
          OutputDirectory& out);
void save(const ComparisonResult& result, const ComparisonJob& job, const std::string& config,
          OutputDirectory& out);
void save(const ValidationResult& result, const ValidationJob& job, const std::string& config,
          OutputDirectory& out);
void save(const CalibrationResult& result, const CalibrationJob& job, const std::string& config,
          OutputDirectory& out);
void save(const CriticismResult& result, const CriticismJob& job, const std::string& config,
          OutputDirectory& out);

// One that tables show: above 1 % on either side.
bool is_common(const TransitionDeviation& transition);

// The end of a training's log, if it has one.
void save_summary(const TrainingResult& result, const TrainingJob& job);

}  // namespace psn::services
