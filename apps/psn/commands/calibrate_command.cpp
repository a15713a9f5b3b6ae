// psn calibrate: are the posteriors of an inference network right?
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "apps/psn/commands/commands.h"
#include "apps/psn/options/options.h"
#include "apps/psn/output/calibration_output.h"
#include "apps/psn/output/page_output.h"
#include "apps/psn/output/report_output.h"
#include "apps/psn/program_host.h"
#include "psn/services/output_directory.h"
#include "psn/services/saving/results.h"

namespace psn::app {
namespace {

struct CalibrateOptions {
  CommonOptions common;
  SimulationArguments simulation;
  std::string engine = "ic";
  services::CalibrationJob job;
};

void calibrate_command(CalibrateOptions& options, const CLI::App& command) {
  services::CalibrationJob& job = options.job;
  job.simulation = options.simulation;
  job.simulation.seed = options.common.seed;
  job.engine =
      options.engine == "network" ? services::Engine::kNetwork : services::Engine::kCompiled;
  job.out = options.simulation.out;
  job.config = effective_config(command);
  job.check();
  services::OutputDirectory out(job.out);
  job.save = [&](const services::CalibrationResult& result) {
    if (out) services::save(result, job, job.config, out);
  };
  ProgramHost host(!options.common.quiet, job.simulation.time_limit);
  const services::CalibrationResult result = services::calibrate(job, host);
  if (!options.common.quiet) warn_of_failures(result.failures);
  if (options.common.json) {
    fmt::print("{}\n", services::json_of(result, job).dump(2));
  } else {
    print_calibration(result, job);
  }
  leave_page(options.simulation.out, {options.common.quiet, options.simulation.open});
}

}  // namespace

void add_calibrate_command(CLI::App& program) {
  auto* command = program.add_subcommand(
      "calibrate", "are the posteriors of an inference network right? a verdict");
  auto options = std::make_shared<CalibrateOptions>();
  auto& o = *options;
  o.simulation.count = 1000;
  o.simulation.add_to(*command, "");
  command->remove_option(command->get_option("-n"));
  command->add_option("-n,--draws", o.simulation.count, "of the posterior of each data set")
      ->capture_default_str()
      ->check(CLI::Range(50, 1 << 30));
  command->add_option("--datasets", o.job.datasets, "drawn from the model, to infer from")
      ->capture_default_str()
      ->check(CLI::Range(20, 1 << 24));
  command->add_option("--network", o.job.network, "inference network of 'psn train inference'")
      ->required();
  command->add_option("--surrogate", o.job.surrogate,
                      "infer in this surrogate (s.psn) instead of the model");
  command
      ->add_option("--engine", o.engine,
                   "ic: draws weighted to be exact; network: the network's own draws")
      ->capture_default_str()
      ->check(CLI::IsMember({"ic", "network"}));
  command
      ->add_option("--query", o.job.queries,
                   "latents to judge, by name or address; by default all that every trace has")
      ->allow_extra_args(false);
  add_tolerance(*command, o.job.tolerance);
  command
      ->add_flag("--resume", o.job.resume,
                 "go on with a calibration into --out that was interrupted, if there is")
      ->configurable(false);
  o.common.add_to(*command);
  command->callback([options, command] { calibrate_command(*options, *command); });
}

}  // namespace psn::app
