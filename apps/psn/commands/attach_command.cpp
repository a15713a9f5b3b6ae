// psn attach: what a program that knows nothing of psn draws, and a file to tell psn about it.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "apps/psn/commands/commands.h"
#include "apps/psn/options/options.h"
#include "apps/psn/output/report_output.h"
#include "apps/psn/program_host.h"
#include "psn/services/attached_sites.h"

namespace psn::app {
namespace {

struct AttachCommand {
  CommonOptions common;
  services::LearnJob job;
};

void print_sites_json(const services::LearnResult& learned) {
  nlohmann::ordered_json sites = nlohmann::ordered_json::array();
  for (const services::AttachedSite& site : learned.sites) {
    sites.push_back({{"at", site.address},
                     {"type", site.type},
                     {"place", site.place},
                     {"runs", site.runs},
                     {"most", site.most}});
  }
  const nlohmann::ordered_json json{{"runs", learned.runs},
                                    {"started_anew", learned.started_anew},
                                    {"sites", sites},
                                    {"printed", learned.printed},
                                    {"files", learned.files}};
  fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

void attach_command(AttachCommand& options) {
  options.job.seed = options.common.seed;
  ProgramHost host(options.common.quiet);
  const services::LearnResult learned = services::learn_attached(options.job, host);
  if (!options.common.quiet) warn_of_failures(learned.failures);
  if (options.common.json) return print_sites_json(learned);
  fmt::print("{}", services::settings_text(options.job, learned));
}

}  // namespace

void add_attach_command(CLI::App& program) {
  auto* command = program.add_subcommand(
      "attach", "what a program that knows nothing of psn draws (for attach:COMMAND)");
  auto options = std::make_shared<AttachCommand>();
  services::LearnJob& job = options->job;
  command
      ->add_option("--learn", job.command,
                   "COMMAND: run it a few times and print its random choices as a TOML file, to "
                   "edit and give to --attach")
      ->required();
  command->add_option("--runs", job.runs, "how often it is run")
      ->capture_default_str()
      ->check(CLI::Range(1, 100'000));
  command->add_option("--depth", job.depth, "calls of the stack that tell choices apart")
      ->capture_default_str()
      ->check(CLI::Range(1, 32));
  command
      ->add_option("--time-limit", job.time_limit,
                   "seconds that a run may take from one random choice to the next; 0: none")
      ->capture_default_str()
      ->check(finite_between(0, 1e9));
  command
      ->add_option("--start-time-limit", job.remote.start_limit,
                   "seconds that it may take to its first random choice (60)")
      ->check(finite_between(0.01, 1e9));
  options->common.add_to(*command);
  command->callback([options] { attach_command(*options); });
}

}  // namespace psn::app
