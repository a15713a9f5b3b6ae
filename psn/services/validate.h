// Is a surrogate its simulator? A verdict with all that it stands on. Blocking; in one process.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "psn/evidence/residuals.h"
#include "psn/evidence/tests.h"
#include "psn/evidence/uniformity.h"
#include "psn/services/simulators.h"
#include "psn/train/comparison.h"

namespace psn::services {

// Half of what training warns of (psn/services/warnings.h): nats per trace.
inline constexpr double kMostValidKl = 0.05;
// Traces that would meet something unknown.
inline constexpr double kMostUnknownMass = 0.01;

struct ValidationJob {
  SimulationOptions simulation;  // of the model; `count`: traces
  std::string data;              // a store instead of the model; empty: the model is run
  bool all_traces = false;       // of the store, not only those that no training on it learns from
  std::string surrogate;         // its file
  double tolerance = 0.02;       // of a probability
  double most_kl = kMostValidKl;

  void check() const;  // throws InvalidArgument
};

struct ValidatedAddress : AddressDeviation {
  // Of the simulator's choices by the surrogate's distributions; nullopt: not known there, or too
  // few visits.
  std::optional<evidence::Curve> places, densities;
};

struct ValidatedTransition : evidence::TransitionResidual {
  double p_value =
      1;  // with the surrogate's tolerance; of all that leave the address, by Bonferroni
  double adjusted_p_value = 1;
  bool failed = false;
};

struct ClassifierFigures {
  double accuracy = 0.5, most = 0.5;  // above the latter it fails
  std::size_t rows = 0;               // that it was judged on
  std::vector<std::string> columns;
};

struct ValidationResult {
  evidence::Verdict verdict;
  std::vector<std::string> warnings;             // what the traces are too few to decide
  ConditionalDeviation conditional;              // its addresses are empty, for they are here:
  std::vector<ValidatedAddress> addresses;       // the worst first
  std::vector<ValidatedTransition> transitions;  // the worst first
  std::optional<ClassifierFigures> classifier;   // nullopt: nothing to tell by
  double path_total_variation = 0;
  // Traces per second; nullopt: it was not run.
  std::optional<double> simulator_speed, surrogate_speed;
  Failures failures;  // of the simulator
};

// Throws InvalidArgument, besides for what check() says, for a surrogate of another model.
ValidationResult validate(const ValidationJob& job, Host& host);

}  // namespace psn::services
