// A model that is about to be run: opened, looked at by a few runs, and asked what it is to be
// asked. What simulate, graph and predict have in common.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "psn/services/model_survey.h"
#include "psn/services/run_report.h"
#include "psn/services/simulators.h"

namespace psn::services {

// What of a model is run, without observations.
struct ForwardOptions {
  SimulationOptions simulation;
  SurrogateUse surrogate;
  Observations held;                 // latents to hold at a value
  std::vector<std::string> queries;  // by name or address; none: a default
};

class ForwardRun {
 public:
  // Throws as open_simulator() does, and InvalidArgument for what the model does not have. The
  // options must outlive it.
  ForwardRun(const ForwardOptions& options, Host& host)
      : options_(options),
        host_(host),
        simulator_(open_simulator(options.simulation, options.surrogate, host)),
        work_(host, {.label = options.simulation.model, .total = options.simulation.count}),
        survey_(*simulator_, options.simulation.parallelism,
                options.simulation.run_options(host, &options.held), options.queries) {
    survey_.check_held(options.held);
    forget_fallbacks(*simulator_);
  }

  Simulator& simulator() { return *simulator_; }
  const ModelSurvey& survey() const { return survey_; }
  // With a seed of its own for each purpose.
  RunOptions run_options(DrawsFor purpose) {
    RunOptions run = options_.simulation.run_options(host_, &options_.held);
    run.seed = seed_for(purpose, options_.simulation.seed);
    return run;
  }
  RunReport report() { return report_on(*simulator_, host_); }

 private:
  const ForwardOptions& options_;
  Host& host_;
  const std::unique_ptr<Simulator> simulator_;
  const WorkScope work_;
  const ModelSurvey survey_;
};

}  // namespace psn::services
