// psn criticise: does the model explain these data?
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "apps/psn/commands/commands.h"
#include "apps/psn/options/observe.h"
#include "apps/psn/options/options.h"
#include "apps/psn/output/criticism_output.h"
#include "apps/psn/output/page_output.h"
#include "apps/psn/output/report_output.h"
#include "apps/psn/program_host.h"
#include "psn/services/engine_names.h"
#include "psn/services/option_names.h"
#include "psn/services/output_directory.h"
#include "psn/services/saving/results.h"

namespace psn::app {
namespace {

struct CriticiseOptions {
  CommonOptions common;
  SimulationArguments simulation;
  std::string engine;
  std::vector<std::string> observe;
  std::string observations;
  services::CriticismJob job;
};

void complete_job(CriticiseOptions& options, const CLI::App& command) {
  services::CriticismJob& job = options.job;
  job.simulation = options.simulation;
  job.simulation.seed = options.common.seed;
  if (options.engine.empty()) options.engine = job.network.empty() ? "is" : "ic";
  job.engine = services::engine_names().at(options.engine);
  if (!options.observations.empty()) add_observation_file(job.observations, options.observations);
  add_observations(job.observations, options.observe);
  job.out = options.simulation.out;
  job.config = effective_config(command);
}

void criticise_command(CriticiseOptions& options, const CLI::App& command) {
  complete_job(options, command);
  services::CriticismJob& job = options.job;
  job.check();
  services::OutputDirectory out(job.out);
  job.save = [&](const services::CriticismResult& result) {
    if (out) services::save(result, job, job.config, out);
  };
  ProgramHost host(!options.common.quiet, job.simulation.time_limit);
  const services::CriticismResult result = services::criticise(job, host);
  if (options.common.json) {
    fmt::print("{}\n", services::json_of(result, job).dump(2));
  } else {
    print_criticism(result, job);
  }
  leave_page(options.simulation.out, {options.common.quiet, options.simulation.open});
  if (options.common.quiet) return;
  warn_of_failures(result.failures);
  print_warnings(services::with_option_names(result.warnings));
}

}  // namespace

void add_criticise_command(CLI::App& program) {
  auto* command =
      program.add_subcommand("criticise", "does the model explain these data? a verdict");
  auto options = std::make_shared<CriticiseOptions>();
  auto& o = *options;
  o.simulation.count = 2000;
  o.simulation.add_to(*command, "");
  command->remove_option(command->get_option("-n"));
  command->add_option("-n,--draws", o.simulation.count, "of the posterior of each data set")
      ->capture_default_str()
      ->check(CLI::Range(50, 1 << 30));
  command
      ->add_option("--observe", o.observe,
                   "NAME=VALUE, the data, by name or address; by default the program's own")
      ->allow_extra_args(false);
  command->add_option("--observations", o.observations, "JSON or CSV file of observations");
  command->add_option("--replicates", o.job.replicates, "data sets drawn from the model")
      ->capture_default_str()
      ->check(CLI::Range(services::kFewestReplicates, std::uint64_t{1} << 24));
  command->add_option("--network", o.job.network,
                      "inference network of 'psn train inference' (ic, network)");
  command
      ->add_option("--engine", o.engine,
                   "is: proposals from the prior; ic: of a network, the default with one; network: "
                   "its own draws")
      ->check(CLI::IsMember({"is", "ic", "network"}));
  command
      ->add_flag("--resume", o.job.resume,
                 "go on with a criticism into --out that was interrupted, if there is")
      ->configurable(false);
  o.common.add_to(*command);
  command->callback([options, command] { criticise_command(*options, *command); });
}

}  // namespace psn::app
