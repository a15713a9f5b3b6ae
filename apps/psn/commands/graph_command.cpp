// psn graph: the address transitions of a model.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "apps/psn/commands/commands.h"
#include "apps/psn/options/forward_options.h"
#include "apps/psn/output/page_output.h"
#include "apps/psn/output/report_output.h"
#include "apps/psn/program_host.h"
#include "psn/services/graph.h"
#include "psn/services/output_directory.h"

namespace psn::app {
namespace {

struct GraphOptions : ForwardArguments {
  bool sites = false;
  double min_probability = 0;
};

std::string result_text(const services::GraphResult& result) {
  nlohmann::ordered_json json{{"kind", "graph"}, {"traces", result.traces}};
  auto& list = json["transitions"] = nlohmann::ordered_json::array();
  for (const TransitionGraph::Edge& edge : result.edges) {
    list.push_back({{"from", edge.from},
                    {"to", edge.to},
                    {"count", edge.count},
                    {"probability", edge.probability}});
  }
  add_report(result.report, json);
  return json.dump(2) + "\n";
}

void graph_command(const GraphOptions& options, const CLI::App& command) {
  services::OutputDirectory out(options.simulation.out);
  const services::ForwardOptions chosen = options.chosen();
  ProgramHost host(!options.common.quiet, chosen.simulation.time_limit);
  const services::GraphResult result = services::graph(
      chosen, options.sites ? TransitionGraph::Nodes::kSites : TransitionGraph::Nodes::kAddresses,
      host);
  if (!options.common.quiet) tell_of_runs(result.report);
  // Either may be large: only what is asked for is made.
  const std::string dot =
      out || !options.common.json ? to_dot(result.edges, options.min_probability) : "";
  const std::string json = out || options.common.json ? result_text(result) : "";
  if (out) {
    out.write(services::kConfigFile, effective_config(command));
    out.write("transitions.dot", dot);
    out.write("transitions.json", json);
    out.publish();
  }
  leave_page(options.simulation.out, {options.common.quiet, options.simulation.open});
  fmt::print("{}", options.common.json ? json : dot);
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
