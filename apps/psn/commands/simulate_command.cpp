// psn simulate: forward runs of a model.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/psn/commands/commands.h"
#include "apps/psn/options/forward_options.h"
#include "apps/psn/output/page_output.h"
#include "apps/psn/output/report_output.h"
#include "apps/psn/program_host.h"
#include "psn/services/output_directory.h"
#include "psn/services/saving/results.h"
#include "psn/services/warnings.h"

namespace psn::app {
namespace {

using services::SimulationResult;
using services::TraceRecord;

struct SimulateOptions : ForwardArguments {
  std::size_t show = 0;
};

std::string trace_text(std::size_t index, const TraceRecord& trace) {
  std::string text = fmt::format("trace {}: log p = {:.6g}\n", index, trace.log_joint);
  for (const TraceRecord::Step& step : trace.steps) {
    const bool held = step.role == Role::kSample && step.given;
    const bool learned = step.role == Role::kTag && !step.distribution.empty();
    text +=
        fmt::format("  {:8} {} = {}{}{}\n", role_name(step.role), step.address, step.value.text(),
                    held      ? "  held"
                    : learned ? "  learned"
                              : "",
                    step.distribution.empty() ? "" : "  ~ " + step.distribution);
  }
  return text;
}

void simulate_command(const SimulateOptions& options, const CLI::App& command) {
  services::OutputDirectory out(options.simulation.out);
  services::SimulationJob job{options.chosen()};
  job.recorded = std::max(options.show, out ? services::kTracesKept : 0);
  job.distributions = options.show > 0;
  job.columns = static_cast<bool>(out);
  ProgramHost host(!options.common.quiet, job.simulation.time_limit);
  const SimulationResult result = services::simulate(job, host);
  if (!options.common.quiet) tell_of_runs(result.report);
  if (out) services::save(result, job, effective_config(command), out);
  leave_page(options.simulation.out, {options.common.quiet, options.simulation.open});
  if (options.common.json) {
    fmt::print("{}\n", services::json_of(result, job).dump(2));
  } else {
    for (std::size_t i = 0; i < std::min(options.show, result.records.size()); ++i) {
      fmt::print("{}", trace_text(i, result.records[i]));
    }
    fmt::print(
        "{}: {} traces, {:.3f} random choices each (at most {}), {} addresses, {:.0f} traces/s\n",
        result.model, job.simulation.count, result.mean_length, result.longest, result.addresses,
        result.traces_per_second);
    print_surrogate_quality(result.report);
  }
  if (options.common.quiet) return;
  print_warnings(services::surrogate_warnings(job.simulation.model, result.report));
}

}  // namespace

void add_simulate_command(CLI::App& program) {
  auto* command = program.add_subcommand("simulate", "run a model forward");
  auto options = std::make_shared<SimulateOptions>();
  options->simulation.add_to(*command, "number of traces");
  command->add_option("--show", options->show, "print the first so many traces")
      ->capture_default_str();
  command->add_option("--given", options->given, "NAME=VALUE: hold a latent at a value")
      ->allow_extra_args(false);
  command
      ->add_option("--query", options->queries,
                   "variables to keep in OUT/samples.csv, by name or address; result is what the "
                   "program returns")
      ->allow_extra_args(false);
  options->surrogate.add_to(*command);
  options->common.add_to(*command);
  command->callback([options, command] { simulate_command(*options, *command); });
}

}  // namespace psn::app
