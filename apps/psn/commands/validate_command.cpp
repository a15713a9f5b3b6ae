// psn validate: is a surrogate its simulator?
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "apps/psn/commands/commands.h"
#include "apps/psn/options/options.h"
#include "apps/psn/output/page_output.h"
#include "apps/psn/output/report_output.h"
#include "apps/psn/output/validation_output.h"
#include "apps/psn/program_host.h"
#include "psn/services/option_names.h"
#include "psn/services/output_directory.h"
#include "psn/services/saving/results.h"

namespace psn::app {
namespace {

struct ValidateOptions {
  CommonOptions common;
  SimulationArguments simulation;
  services::ValidationJob job;
};

void validate_command(ValidateOptions& options, const CLI::App& command) {
  services::ValidationJob& job = options.job;
  job.simulation = options.simulation;
  job.simulation.seed = options.common.seed;
  // `psn validate --data runs s.psn`: the one file is the surrogate.
  if (!job.data.empty() && job.surrogate.empty()) std::swap(job.surrogate, job.simulation.model);
  job.check();
  services::OutputDirectory out(options.simulation.out);
  ProgramHost host(!options.common.quiet, job.simulation.time_limit);
  const services::ValidationResult result = services::validate(job, host);
  if (out) services::save(result, job, effective_config(command), out);
  if (options.common.json) {
    fmt::print("{}\n", services::json_of(result, job).dump(2));
  } else {
    print_validation(result, job);
  }
  leave_page(options.simulation.out, {options.common.quiet, options.simulation.open});
  if (options.common.quiet) return;
  warn_of_failures(result.failures);
  print_warnings(services::with_option_names(result.warnings));
}

}  // namespace

void add_validate_command(CLI::App& program) {
  auto* command = program.add_subcommand("validate", "is a surrogate its simulator? a verdict");
  auto options = std::make_shared<ValidateOptions>();
  auto& o = *options;
  o.simulation.add_to(*command, "traces to judge by, of each");
  command->get_option("--model")->required(false);
  command->add_option("surrogate,--surrogate", o.job.surrogate, "its file, such as s.psn");
  command->add_option("--data", o.job.data,
                      "a trace store instead of the model, which need not run again: those of its "
                      "traces that are held out from training");
  command->add_flag("--all-traces", o.job.all_traces,
                    "of --data: all of its traces, if the surrogate was not trained on them");
  add_tolerance(*command, o.job.tolerance);
  command
      ->add_option("--most-kl", o.job.most_kl,
                   "nats per trace that the surrogate may be from the simulator")
      ->capture_default_str()
      ->check(finite_between(0, 1e9));
  o.common.add_to(*command);
  command->callback([options, command] { validate_command(*options, *command); });
}

}  // namespace psn::app
