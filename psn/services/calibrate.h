// Are the posteriors of an inference network right? Simulation-based calibration: over data drawn
// from the model, the true values must lie among draws of their posteriors like one of them (Talts
// et al. 2018; Lemos et al. 2023 for all latents together). Blocking; in one process; data sets
// side by side on threads.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "psn/evidence/tests.h"
#include "psn/evidence/uniformity.h"
#include "psn/services/infer.h"
#include "psn/services/simulators.h"

namespace psn::services {

// Of data sets where weights cannot be relied on.
inline constexpr double kMostUnreliable = 0.1;

struct CalibrationResult;

struct CalibrationJob {
  SimulationOptions simulation;  // of the model; `count`: draws of each posterior
  std::uint64_t datasets = 300;
  std::string network;
  std::string surrogate;              // to infer in; empty: the model
  Engine engine = Engine::kCompiled;  // or kNetwork
  std::vector<std::string> queries;   // none: all that every trace has
  double tolerance = 0.03;            // of a probability

  // The folder of the results: what is interrupted is kept beside it. Empty: nothing is.
  std::string out;
  std::string config;   // all options as TOML, to tell unfinished work from other work
  bool resume = false;  // go on with what is unfinished, if there is
  // Called with the result before unfinished work is forgotten: writes what is to be written.
  std::function<void(const CalibrationResult&)> save;

  void check() const;  // throws InvalidArgument
};

// One number that is inferred; lists are by data set in which it occurs.
struct CalibratedLatent {
  std::string name;
  evidence::Curve ranks, coverage;
  std::vector<double> z_score, contraction;
};

struct CalibrationResult {
  evidence::Verdict verdict;
  std::uint64_t datasets = 0;
  std::vector<CalibratedLatent> latents;  // the worst first
  std::optional<evidence::Curve> tarp;
  std::vector<double> ess, khat;  // by data set; empty: nothing was weighed
  double khat_threshold = 0, least_ess = 0;
  double unreliable = 0;  // share
  Failures failures;
};

// Throws what infer() does; InterruptedWork when the host says stop.
CalibrationResult calibrate(const CalibrationJob& job, Host& host);

}  // namespace psn::services
