// psn data import: runs that were made before become a trace store.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "apps/psn/commands/commands.h"
#include "apps/psn/options/options.h"
#include "psn/services/import_runs.h"
#include "psn/services/names.h"

namespace psn::app {
namespace {

struct ImportOptions {
  CommonOptions common;
  std::vector<std::string> latents, observed;
  services::ImportJob job;
};

void tell(const services::ImportResult& result, const services::ImportJob& job) {
  for (const auto& [name, runs] : result.missing) {
    fmt::print(stderr, "psn: warning: '{}' is missing in {} of {} runs\n", name, runs, result.runs);
  }
  if (result.failed > 0) {
    fmt::print(stderr,
               "psn: warning: {} of {} runs are left out and kept in '{}/failed.csv', which biases "
               "what is learned if failing has to do with the variables\n",
               result.failed, result.runs, job.store);
  }
  if (!result.unused.empty()) {
    fmt::print(stderr, "psn: columns that nobody asked for: {}\n", fmt::join(result.unused, ", "));
  }
}

void import_command(ImportOptions& options) {
  services::ImportJob& job = options.job;
  for (const std::string& text : options.latents) job.latents.push_back(services::prior_of(text));
  for (const std::string& words : options.observed) {
    for (std::string& name : services::split_names(words)) job.observed.push_back(std::move(name));
  }
  const services::ImportResult result = services::import_runs(job);
  if (!options.common.quiet) tell(result, job);
  if (options.common.json) {
    const nlohmann::ordered_json json{{"store", job.store},        {"runs", result.runs},
                                      {"traces", result.traces},   {"failed", result.failed},
                                      {"missing", result.missing}, {"unused", result.unused}};
    fmt::print("{}\n", json.dump(2));
  } else {
    fmt::print("{}: {} traces of {} runs\n", job.store, result.traces, result.runs);
  }
}

}  // namespace

void add_import_command(CLI::App& data) {
  auto* command =
      data.add_subcommand("import", "a table of runs (parameters and outputs) as a trace store");
  auto options = std::make_shared<ImportOptions>();
  command->add_option("table,--table", options->job.table, "a .csv or .npz file")->required();
  command
      ->add_option("--latent", options->latents,
                   "NAME=FAMILY(PARAMETERS): a column of parameters and the prior it was drawn "
                   "from, such as 'a=Normal(0, 1)'")
      ->required()
      ->allow_extra_args(false);
  command->add_option("--observe", options->observed, "columns of outputs, with commas between")
      ->required()
      ->allow_extra_args(false);
  command->add_option("--out", options->job.store, "the new store: a folder")->required();
  options->common.add_to(*command);
  command->callback([options] { import_command(*options); });
}

}  // namespace psn::app
