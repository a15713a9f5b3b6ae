// psn predict: what would be observed again, given a posterior that psn infer wrote.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "apps/psn/commands/commands.h"
#include "apps/psn/options/forward_options.h"
#include "apps/psn/output/page_output.h"
#include "apps/psn/output/posterior_output.h"
#include "apps/psn/output/report_output.h"
#include "apps/psn/program_host.h"
#include "psn/services/output_directory.h"
#include "psn/services/saving/results.h"

namespace psn::app {
namespace {

struct PredictOptions : ForwardArguments {
  std::string posterior;  // directory
};

void predict_command(const PredictOptions& options, const CLI::App& command) {
  services::OutputDirectory out(options.simulation.out);
  services::PredictionJob job{options.chosen(), options.posterior};
  ProgramHost host(!options.common.quiet, job.simulation.time_limit);
  const services::PredictionResult result = services::predict(job, host);
  if (!options.common.quiet) tell_of_runs(result.report);
  if (out) services::save(result, job, effective_config(command), out);
  leave_page(options.simulation.out, {options.common.quiet, options.simulation.open});
  if (options.common.json) {
    fmt::print("{}\n", services::json_of(result, job).dump(2));
    return;
  }
  print_columns(result.columns);
  print_learned_tags(result.learned);
  fmt::print("{} runs of {} draws in '{}', {:.0f} traces/s", result.samples.size(), result.draws,
             result.model, result.traces_per_second);
  if (result.new_latents > 0) {
    fmt::print(", {} latents that no draw had a value for", result.new_latents);
  }
  fmt::print("\n");
}

}  // namespace

void add_predict_command(CLI::App& program) {
  auto* command = program.add_subcommand(
      "predict", "what would be observed again, given a posterior of psn infer --out");
  auto options = std::make_shared<PredictOptions>();
  command->add_option("posterior,--posterior", options->posterior, "directory of psn infer --out")
      ->required();
  options->simulation.add_to(*command, "runs, each of a draw of the posterior");
  command->get_option("--model")->required(false)->description(
      "what to run, a simulator or a surrogate; by default what the posterior is of");
  command
      ->add_option(
          "--query", options->queries,
          "variables to report, by name or address; the observations by default; result is "
          "what the program returns")
      ->allow_extra_args(false);
  command->add_option("--given", options->given, "NAME=VALUE: hold a latent at another value")
      ->allow_extra_args(false);
  options->surrogate.add_to(*command);
  options->common.add_to(*command);
  command->callback([options, command] { predict_command(*options, *command); });
}

}  // namespace psn::app
