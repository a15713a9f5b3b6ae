// psn graph: the address transitions of a model.
#include <fmt/format.h>

#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>

#include "apps/psn/commands/commands.h"
#include "apps/psn/options/fallback.h"
#include "apps/psn/options/options.h"
#include "apps/psn/output/watch.h"
#include "apps/psn/output_directory.h"
#include "apps/psn/pilot.h"
#include "psn/infer/importance.h"
#include "psn/report/transitions.h"

namespace psn::app {
namespace {

struct GraphOptions {
  CommonOptions common;
  SimulationOptions simulation;
  FallbackOptions fallback;
  bool sites = false;
  double min_probability = 0;
};

void graph_command(const GraphOptions& options, const CLI::App& command) {
  const SimulationOptions& s = options.simulation;
  const auto simulator = options.fallback.load(s);
  OutputDirectory out(s.out);
  Watch watch({.label = s.model,
               .total = s.count,
               .time_limit = s.time_limit,
               .progress = !options.common.quiet});
  const Pilot pilot(*simulator, s.parallelism,
                    {.max_length = s.max_length, .monitor = &watch.monitor()});
  forget_fallbacks(*simulator);
  TransitionGraph graph(options.sites ? TransitionGraph::Nodes::kSites
                                      : TransitionGraph::Nodes::kAddresses);
  std::mutex mutex;
  run_traces(
      *simulator, s.count, prior_guide(),
      [&](std::uint64_t, Trace& trace) {
        const std::lock_guard lock(mutex);
        graph.add(trace);
      },
      {.seed = seed_for(DrawsFor::kGraph, options.common.seed),
       .max_length = s.max_length,
       .monitor = &watch.monitor(),
       .failed = [](std::uint64_t) {}},  // told below
      s.parallelism);
  // Either may be large: only what is asked for is made.
  const std::string dot =
      out || !options.common.json ? graph.to_dot(options.min_probability) : std::string();
  auto result = out || options.common.json ? nlohmann::ordered_json::parse(graph.to_json())
                                           : nlohmann::ordered_json::object();
  report_fallbacks(*simulator, result, options.common.quiet);
  report_failures(*simulator, result, options.common.quiet);
  const std::string json = result.dump(2) + "\n";
  if (out) {
    out.write_config(command);
    out.write("transitions.dot", dot);
    out.write("transitions.json", json);
    out.publish();
  }
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
  options->fallback.add_to(*command);
  options->common.add_to(*command);
  command->callback([options, command] { graph_command(*options, *command); });
}

}  // namespace psn::app
