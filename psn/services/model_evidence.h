// Which of several models the same data speak for: the log evidence of each, log p(data | model),
// with its standard error, and Bayes factors. By importance sampling: from the prior, or, where an
// inference network is given, by whichever of the two a pilot finds to be the better.
//
// Blocking; in one process.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "psn/core/observations.h"
#include "psn/services/infer.h"
#include "psn/services/simulators.h"

namespace psn::services {

struct EvidenceResult;

struct EvidenceJob {
  SimulationOptions simulation;  // of every model; `count`: samples of each, `model`: none
  std::vector<std::string> models;
  std::map<std::string, std::string> networks;  // inference networks, by model
  double defensive = 0.1;                       // share of their traces that is the model's own
  Observations observations;                    // all models have all of them
  Observations held;
};

struct ModelEvidence {
  std::string model;  // as it was asked for
  Engine engine = Engine::kImportance;
  double log_evidence = 0;
  double error = 0;             // standard error of that
  double ess = 0, khat = 0;     // of the samples behind it
  double log_bayes_factor = 0;  // against the best model, at most 0
  double probability = 0;       // if all models are as probable before the data
  std::uint64_t simulator_runs = 0, survey_runs = 0;  // pilots included
};

struct EvidenceResult {
  std::vector<ModelEvidence> models;  // in the order of the job
  std::string best;
  std::vector<std::string> warnings;
};

// Throws InvalidArgument for networks of models that are not among these, and as infer() does.
EvidenceResult model_evidence(const EvidenceJob& job, Host& host);

}  // namespace psn::services
