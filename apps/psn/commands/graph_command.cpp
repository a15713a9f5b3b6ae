// psn graph: the address transitions of a model.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "apps/psn/commands/commands.h"
#include "apps/psn/options/forward_options.h"
#include "apps/psn/output/page_output.h"
#include "apps/psn/output/report_output.h"
#include "apps/psn/program_host.h"
#include "psn/services/output_directory.h"
#include "psn/services/saving/results.h"

namespace psn::app {
namespace {

struct GraphOptions : ForwardArguments {
  bool sites = false;
  double min_probability = 0;
};

void graph_command(const GraphOptions& options, const CLI::App& command) {
  services::OutputDirectory out(options.simulation.out);
  services::GraphJob job{options.chosen()};
  job.min_probability = options.min_probability;
  if (options.sites) job.nodes = TransitionGraph::Nodes::kSites;
  ProgramHost host(!options.common.quiet, job.simulation.time_limit);
  const services::GraphResult result = services::graph(job, host);
  if (!options.common.quiet) {
    tell_of_runs(result.report);
    print_warnings(services::loop_warnings(result.loops));
  }
  if (out) services::save(result, job, effective_config(command), out);
  leave_page(options.simulation.out, {options.common.quiet, options.simulation.open});
  // Either may be large: only what is asked for is made.
  fmt::print("{}", options.common.json ? services::json_of(result, job).dump(2) + "\n"
                                       : to_dot(result.edges, job.min_probability));
}

}  // namespace

void add_graph_command(CLI::App& program) {
  auto* command = program.add_subcommand(
      "graph", "address transitions with their probabilities, as DOT (or JSON)");
  auto options = std::make_shared<GraphOptions>();
  options->simulation.add_to(*command, "number of traces");
  command->add_flag("--sites", options->sites, "join the indices and instances of a site");
  command
      ->add_option("--min-probability", options->min_probability,
                   "leave out rarer edges (DOT only)")
      ->capture_default_str()
      ->check(finite_between(0, 1));
  options->surrogate.add_to(*command);
  options->common.add_to(*command);
  command->callback([options, command] { graph_command(*options, *command); });
}

}  // namespace psn::app
