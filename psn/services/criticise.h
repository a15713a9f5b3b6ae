// Does the model explain these data? Each site of the data is held against what the posterior,
// given all of them, predicts there; and since a posterior has seen what it predicts, the same is
// done with data drawn from the model, among which these must not stand out. Blocking; in one
// process; data sets side by side on threads.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "psn/core/observations.h"
#include "psn/evidence/criticism.h"
#include "psn/evidence/tests.h"
#include "psn/services/infer.h"
#include "psn/services/simulators.h"

namespace psn::services {

inline constexpr double kFalseDiscoveries = 0.05;
inline constexpr std::uint64_t kFewestReplicates = 199;  // fewer could not tell

struct CriticismResult;

struct CriticismJob {
  SimulationOptions simulation;  // `count`: draws of each posterior
  Observations observations;     // empty: the program's own data
  std::uint64_t replicates = 300;
  Engine engine = Engine::kImportance;  // or kCompiled, kNetwork
  std::string network;                  // of the latter two

  // As of CalibrationJob.
  std::string out, config;
  bool resume = false;
  std::function<void(const CriticismResult&)> save;

  void check() const;  // throws InvalidArgument
};

struct CriticisedSite : evidence::SiteCriticism {
  std::string address, name;
  std::optional<std::size_t> component;  // of a vector; nullopt: the whole value
  std::optional<double> value;           // nullopt: a vector
  double pit = 0.5;
  std::optional<evidence::Spread> predicted;  // nullopt: of a vector
  bool blamed = false;
};

struct CriticisedObservation : evidence::SiteCriticism {
  std::string name;
  std::size_t sites = 0;
  bool blamed = false;
};

struct CriticismResult {
  evidence::Verdict verdict;
  std::vector<std::string> warnings;
  double p_value = 1;
  std::uint64_t replicates = 0;
  double ess = 0, khat = 0;                         // of the posterior given the data
  std::vector<CriticisedSite> sites;                // of the data, the worst first
  std::vector<CriticisedObservation> observations;  // likewise
  Failures failures;
};

// Throws what infer() does.
CriticismResult criticise(const CriticismJob& job, Host& host);

}  // namespace psn::services
