// psn evidence: which of several models the data speak for.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "apps/psn/commands/commands.h"
#include "apps/psn/options/observe.h"
#include "apps/psn/options/options.h"
#include "apps/psn/output/page_output.h"
#include "apps/psn/output/report_output.h"
#include "apps/psn/program_host.h"
#include "psn/base/error.h"
#include "psn/services/engine_names.h"
#include "psn/services/option_names.h"
#include "psn/services/output_directory.h"
#include "psn/services/saving/results.h"

namespace psn::app {
namespace {

struct EvidenceOptions {
  CommonOptions common;
  SimulationArguments simulation;
  std::vector<std::string> observe, given, networks;
  std::string observations;
  services::EvidenceJob job;
};

void complete_job(EvidenceOptions& options) {
  services::EvidenceJob& job = options.job;
  job.simulation = options.simulation;
  job.simulation.seed = options.common.seed;
  if (!options.observations.empty()) add_observation_file(job.observations, options.observations);
  add_observations(job.observations, options.observe);
  job.held = held_values(options.given);
  for (const std::string& text : options.networks) {
    const auto equals = text.find('=');
    if (equals == std::string::npos) {
      throw InvalidArgument(fmt::format("`network` '{}': MODEL=FILE.psn", text));
    }
    job.networks[text.substr(0, equals)] = text.substr(equals + 1);
  }
}

void print_evidence(const services::EvidenceResult& result) {
  fmt::print("{:>24} {:>8} {:>14} {:>8} {:>18} {:>12} {:>8} {:>10}\n", "", "engine", "log evidence",
             "+-", "log Bayes factor", "probability", "ESS", "runs");
  for (const services::ModelEvidence& e : result.models) {
    fmt::print("{:>24} {:>8} {:>14.4f} {:>8.2g} {:>18.4f} {:>12.4g} {:>8.0f} {:>10}\n", e.model,
               services::name_of(e.engine), e.log_evidence, e.error, e.log_bayes_factor,
               e.probability, e.ess, e.simulator_runs);
  }
  fmt::print(
      "the data speak most for {}; probabilities are for models that were as probable before\n",
      result.best);
}

void evidence_command(EvidenceOptions& options, const CLI::App& command) {
  complete_job(options);
  services::OutputDirectory out(options.simulation.out);
  ProgramHost host(!options.common.quiet, options.simulation.time_limit);
  const services::EvidenceResult result = services::model_evidence(options.job, host);
  if (out) services::save(result, options.job, effective_config(command), out);
  if (options.common.json) {
    fmt::print("{}\n", services::json_of(result, options.job).dump(2));
  } else {
    print_evidence(result);
  }
  leave_page(options.simulation.out, {options.common.quiet, options.simulation.open});
  if (!options.common.quiet) print_warnings(services::with_option_names(result.warnings));
}

}  // namespace

void add_evidence_command(CLI::App& program) {
  auto* command = program.add_subcommand("evidence", "which of several models the data speak for");
  auto options = std::make_shared<EvidenceOptions>();
  auto& o = *options;
  o.simulation.add_to(*command, "traces of each model");
  command->remove_option(command->get_option("--model"));
  command
      ->add_option("models,--models", o.job.models,
                   "each a built-in name, a plugin, a surrogate or remote simulators, as psn infer "
                   "takes them")
      ->required();
  command
      ->add_option("--network", o.networks,
                   "MODEL=FILE.psn: an inference network of one of the models, which proposes if a "
                   "pilot finds it better than the prior")
      ->allow_extra_args(false);
  command
      ->add_option("--defensive", o.job.defensive,
                   "share of a network's traces that is drawn from the model")
      ->capture_default_str()
      ->check(finite_between(0, 0.999));
  command
      ->add_option("--observe", o.observe,
                   "NAME=VALUE, by name or address; all models must have all of them")
      ->allow_extra_args(false);
  command
      ->add_option("--given", o.given, "NAME=VALUE: hold a latent at a value, without weighing it")
      ->allow_extra_args(false);
  command->add_option("--observations", o.observations, "JSON or CSV file of observations");
  o.common.add_to(*command);
  command->callback([options, command] { evidence_command(*options, *command); });
}

}  // namespace psn::app
