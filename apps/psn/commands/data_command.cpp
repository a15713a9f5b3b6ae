// psn data: traces of a model on disk.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "apps/psn/commands/commands.h"
#include "apps/psn/options/options.h"
#include "apps/psn/output/report_output.h"
#include "apps/psn/output/store_output.h"
#include "apps/psn/program_host.h"
#include "psn/services/generate.h"
#include "psn/services/output_directory.h"
#include "psn/services/saving/parts.h"
#include "psn/services/stores.h"

namespace psn::app {
namespace {

using Json = nlohmann::ordered_json;

// ---- generate ---------------------------------------------------------------------------------

struct GenerateOptions {
  CommonOptions common;
  SimulationArguments simulation;
  double map_gib = 0;
  services::GenerationJob job;
};

void print_result(const services::GenerationResult& result, const GenerateOptions& options) {
  if (!options.common.json) {
    fmt::print("{}: {} traces, {} of them new, {:.0f} traces/s\n", options.job.store, result.traces,
               result.new_traces, result.traces_per_second);
    return;
  }
  Json json{{"store", options.job.store},      {"model", result.model},
            {"seed", options.common.seed},     {"traces", result.traces},
            {"new_traces", result.new_traces}, {"traces_per_second", result.traces_per_second}};
  services::add_failures(result.failures, json);
  fmt::print("{}\n", json.dump(2));
}

void generate_command(GenerateOptions& options, const CLI::App& command) {
  services::GenerationJob& job = options.job;
  job.simulation = options.simulation;
  job.simulation.seed = options.common.seed;
  job.store = options.simulation.out;
  job.map_bytes = static_cast<std::size_t>(options.map_gib * (1 << 30));
  job.config = effective_config(command);
  const services::OutputDirectory writable(job.store);
  ProgramHost host(!options.common.quiet, job.simulation.time_limit);
  const services::GenerationResult result = services::generate(job, host);
  if (!host.ranks().leads()) return;
  if (!options.common.quiet) warn_of_failures(result.failures);
  if (!result.left.empty()) throw services::InterruptedWork(result.left);
  print_result(result, options);
}

void add_generate_command(CLI::App& data) {
  auto* command = data.add_subcommand("generate", "run a model and keep its traces in a store");
  auto options = std::make_shared<GenerateOptions>();
  options->simulation.add_to(*command, "traces that the store will have");
  command->remove_option(command->get_option("--open"));  // a store has no report
  command->get_option("--out")->required()->description(
      "the store: a folder; if it is there, generation goes on where it stopped");
  command
      ->add_option("--commit-every", options->job.commit_every,
                   "seconds from one commit to the next: what is lost at most if psn is killed")
      ->capture_default_str()
      ->check(finite_between(0, 1e6));
  command
      ->add_option("--map-size", options->map_gib,
                   "GiB that the store may grow to, reserved as addresses, not as memory; 0: 1024, "
                   "or what 'ulimit -v' leaves room for")
      ->capture_default_str()
      ->check(finite_between(0, 1 << 16));
  options->common.add_to(*command);
  command->callback([options, command] { generate_command(*options, *command); });
}

// ---- info, verify -----------------------------------------------------------------------------

struct StoreOptions {
  CommonOptions common;
  std::string store;
  std::uint64_t sampled = 100'000;

  CLI::App* add_to(CLI::App& data, const std::string& name, const std::string& help) {
    auto* command = data.add_subcommand(name, help);
    command->add_option("store,--store", store, "folder of a trace store")->required();
    common.add_to(*command);
    return command;
  }
};

void add_info_command(CLI::App& data) {
  auto options = std::make_shared<StoreOptions>();
  auto* command = options->add_to(data, "info", "what is in a store");
  command
      ->add_option("--sampled", options->sampled,
                   "traces to look at for lengths and frequencies, evenly spread; 0: all")
      ->capture_default_str();
  command->callback([options] {
    const auto contents = services::store_contents(options->store, options->sampled);
    fmt::print("{}", options->common.json ? contents_json(contents).dump(2) + "\n"
                                          : contents_text(contents));
  });
}

void add_verify_command(CLI::App& data) {
  auto options = std::make_shared<StoreOptions>();
  auto* command = options->add_to(data, "verify", "read all of a store and check it");
  command->callback([options] {
    ProgramHost host(!options->common.quiet);
    const auto store = services::verify_store(options->store, host);
    if (options->common.json) {
      fmt::print("{}\n", Json{{"store", options->store},
                              {"traces", store.traces},
                              {"addresses", store.addresses},
                              {"clean", true}}
                             .dump(2));
    } else {
      fmt::print("{}: {} traces, {} addresses, all clean\n", options->store, store.traces,
                 store.addresses);
    }
  });
}

// ---- merge, export ----------------------------------------------------------------------------

struct MergeOptions {
  CommonOptions common;
  std::vector<std::string> stores;
  std::string out;
};

void add_merge_command(CLI::App& data) {
  auto* command = data.add_subcommand("merge", "several stores of one model as one");
  auto options = std::make_shared<MergeOptions>();
  command->add_option("stores,--stores", options->stores, "folders of trace stores")
      ->required()
      ->expected(1, 1 << 20);
  command->add_option("--out", options->out, "the new store: a folder")->required();
  options->common.add_to(*command);
  command->callback([options] {
    ProgramHost host(!options->common.quiet);
    const std::uint64_t traces = services::merge_stores(options->stores, options->out, host);
    if (options->common.json) {
      fmt::print("{}\n", Json{{"store", options->out}, {"traces", traces}}.dump(2));
    } else {
      fmt::print("{}: {} traces of {} stores\n", options->out, traces, options->stores.size());
    }
  });
}

void add_export_traces_command(CLI::App& data) {
  auto options = std::make_shared<StoreOptions>();
  auto what = std::make_shared<services::ExportOptions>();
  auto* command = options->add_to(data, "export", "named quantities of each trace as a table");
  command->add_option("--out", what->out, "the file to write, ending in .csv or .npz")->required();
  command->add_option("--query", what->queries, "names or addresses; all names by default")
      ->allow_extra_args(false);
  command->add_option("--first", what->first, "number of the first trace")->capture_default_str();
  command->add_option("--count", what->count, "traces at most; 0: to the end")
      ->capture_default_str();
  command->callback([options, what] {
    what->store = options->store;
    const std::uint64_t rows = services::export_traces(*what);
    if (options->common.json) {
      fmt::print("{}\n", Json{{"file", what->out}, {"traces", rows}}.dump(2));
    } else {
      fmt::print("{}: {} traces\n", what->out, rows);
    }
  });
}

}  // namespace

void add_data_command(CLI::App& program) {
  auto* data = program.add_subcommand("data", "traces of a model on disk");
  data->require_subcommand(0, 1);
  data->callback([data] {
    if (data->get_subcommands().empty()) throw CLI::CallForHelp();
  });
  add_generate_command(*data);
  add_info_command(*data);
  add_verify_command(*data);
  add_merge_command(*data);
  add_export_traces_command(*data);
  add_import_command(*data);
}

}  // namespace psn::app
