// psn simulate: forward runs of a model.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "apps/psn/commands/commands.h"
#include "apps/psn/options/fallback.h"
#include "apps/psn/options/observe.h"
#include "apps/psn/options/options.h"
#include "apps/psn/output/surrogate_quality.h"
#include "apps/psn/output/watch.h"
#include "apps/psn/output_directory.h"
#include "apps/psn/pilot.h"
#include "psn/infer/importance.h"
#include "psn/report/heat_map.h"

namespace psn::app {
namespace {

struct SimulateOptions {
  CommonOptions common;
  SimulationOptions simulation;
  FallbackOptions fallback;
  std::size_t show = 0;
  std::vector<std::string> queries, given;
};

struct Summary {
  std::uint64_t choices = 0;
  std::size_t longest = 0;
  std::unordered_set<const Address*> addresses;
  std::vector<std::string> shown;
  std::map<std::string, std::string> heat_maps;  // of the first trace's matrices, by file name
};

std::string trace_text(std::uint64_t index, const Trace& trace) {
  std::string text = fmt::format("trace {}: log p = {:.6g}\n", index, trace.log_joint);
  for (const Entry& entry : trace.entries) {
    const bool held = entry.role == Role::kSample && entry.given;
    const bool learned = entry.role == Role::kTag && entry.distribution;
    text += fmt::format("  {:8} {} = {}{}{}\n", role_name(entry.role), entry.address->text,
                        entry.value.text(),
                        held      ? "  held"
                        : learned ? "  learned"
                                  : "",
                        entry.distribution ? "  ~ " + entry.distribution->text() : "");
  }
  return text;
}

std::map<std::string, std::string> heat_maps(const Trace& trace) {
  std::map<std::string, std::string> maps;
  for (const Entry& entry : trace.entries) {
    if (entry.value.rank() != 2) continue;
    const auto values = entry.value.components();
    const std::string& name = entry.address->variable->name;
    maps[name + ".vl.json"] = vega_lite({.panels = {{name, {values.begin(), values.end()}}},
                                         .rows = {"row"},
                                         .columns = {"column"},
                                         .width = entry.value.last_extent()});
  }
  return maps;
}

void simulate_command(const SimulateOptions& options, const CLI::App& command) {
  const SimulationOptions& s = options.simulation;
  const Observations held = held_values(options.given);
  const auto simulator = options.fallback.load(s);
  OutputDirectory out(s.out);
  Watch watch({.label = s.model,
               .total = s.count,
               .time_limit = s.time_limit,
               .progress = !options.common.quiet});
  const Pilot pilot(*simulator, s.parallelism,
                    {.held = &held, .max_length = s.max_length, .monitor = &watch.monitor()},
                    options.queries);
  pilot.check_held(held);
  const std::vector<Query> queries =
      options.queries.empty() ? pilot.default_queries(true) : pilot.queries(options.queries);
  forget_fallbacks(*simulator);
  Posterior samples(queries, out ? s.count : 0);
  std::vector<char> failed(s.count);
  Summary summary;
  summary.shown.resize(std::min<std::size_t>(options.show, s.count));
  std::mutex mutex;
  const double started = watch.seconds();
  run_traces(
      *simulator, s.count, prior_guide(),
      [&](std::uint64_t i, Trace& trace) {
        if (out) samples.put(i, trace, 0);
        const std::lock_guard lock(mutex);
        const std::size_t length = trace.length();
        summary.choices += length;
        summary.longest = std::max(summary.longest, length);
        for (const Entry& entry : trace.entries) summary.addresses.insert(entry.address);
        if (i < summary.shown.size()) summary.shown[i] = trace_text(i, trace);
        if (i == 0 && out) summary.heat_maps = heat_maps(trace);
      },
      {.seed = seed_for(DrawsFor::kSimulation, options.common.seed),
       .held = &held,
       .max_length = s.max_length,
       .keep_distributions = options.show > 0,
       .monitor = &watch.monitor(),
       .failed = [&](std::uint64_t i) { failed[i] = 1; }},
      s.parallelism);
  const double rate = static_cast<double>(s.count) / (watch.seconds() - started);
  const auto finished = static_cast<double>(std::count(failed.begin(), failed.end(), 0));
  const double mean_length = static_cast<double>(summary.choices) / finished;

  nlohmann::ordered_json json{{"model", simulator->name()},
                              {"seed", options.common.seed},
                              {"traces", s.count},
                              {"mean_length", mean_length},
                              {"max_length", summary.longest},
                              {"addresses", summary.addresses.size()},
                              {"traces_per_second", rate}};
  add_surrogate_quality(s.model, json);
  report_fallbacks(*simulator, json, options.common.quiet);
  report_failures(*simulator, json, options.common.quiet);
  if (out) {
    out.write_config(command);
    samples.filter([&](std::size_t i) { return !failed[i]; }).write_csv(out.file("samples.csv"));
    for (const auto& [name, map] : summary.heat_maps) out.write(name, map);
    out.write("summary.json", json.dump(2) + "\n");
    out.publish();
  }
  if (options.common.json) {
    fmt::print("{}\n", json.dump(2));
  } else {
    for (const std::string& text : summary.shown) fmt::print("{}", text);
    fmt::print(
        "{}: {} traces, {:.3f} random choices each (at most {}), {} addresses, {:.0f} traces/s\n",
        simulator->name(), s.count, mean_length, summary.longest, summary.addresses.size(), rate);
    print_surrogate_quality(json);
  }
  if (!options.common.quiet) warn_of_surrogate(s.model, json);
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
  options->fallback.add_to(*command);
  options->common.add_to(*command);
  command->callback([options, command] { simulate_command(*options, *command); });
}

}  // namespace psn::app
