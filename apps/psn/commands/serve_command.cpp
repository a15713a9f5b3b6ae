// psn serve: a model as a simulator for any engine that speaks PPX. psn keys: for encryption.
#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "apps/psn/commands/commands.h"
#include "apps/psn/options/options.h"
#include "apps/psn/program_host.h"
#include "psn/base/text.h"
#include "psn/services/serve.h"

namespace psn::app {
namespace {

struct ServeCommandOptions {
  CommonOptions common;
  services::ServiceJob job;
};

void serve_command(ServeCommandOptions& options) {
  services::ServiceJob& job = options.job;
  job.seed = options.common.seed;
  job.ready = [&](const std::string& model, const std::string& endpoint) {
    fmt::print("serving {} at {}{}\n", model, endpoint,
               job.withhold_data ? "; the program's own data are withheld: engines have their own "
                                   "by name, or draw them"
                                 : "");
    std::fflush(stdout);
  };
  job.log = [](const std::string& line) {
    fmt::print(stderr, "psn: warning: a run failed: {}\n", one_line(line));
  };
  ProgramHost host(false);
  services::serve(job, host);
}

}  // namespace

void add_serve_command(CLI::App& program) {
  auto* command = program.add_subcommand("serve", "offer a model to other engines over PPX");
  auto options = std::make_shared<ServeCommandOptions>();
  command->add_option("model,--model", options->job.model, "as for psn infer, also a surrogate")
      ->required();
  command
      ->add_option("--ppx", options->job.endpoint,
                   "where: tcp://ADDRESS:PORT (port *: any that is free) or ipc:///PATH")
      ->capture_default_str();
  command->add_flag("--withhold-data", options->job.withhold_data,
                    "keep the program's own data from the engine: for one that learns from runs");
  command->add_option("--curve-keys", options->job.curve_keys,
                      "file with our own keys (psn keys): encrypts the connection");
  command
      ->add_option("--curve-allow", options->job.curve_allow,
                   "file with the public key of an engine that may connect; all, if none is given")
      ->needs("--curve-keys")
      ->allow_extra_args(false);
  command->add_option("--attach", options->job.attach,
                      "TOML file about the program of attach:COMMAND, as for psn infer");
  add_stack_size(*command, options->job.stack_kib);
  options->common.add_to(*command);
  command->callback([options] { serve_command(*options); });

  auto* keys = program.add_subcommand("keys", "make a pair of keys for encrypted connections");
  auto path = std::make_shared<std::string>();
  keys->add_option("file", *path, "to write; FILE.pub gets the public key")->required();
  keys->callback([path] {
    services::make_keys(*path);
    fmt::print("{}: both keys, keep it secret; {}.pub: the public one\n", *path, *path);
  });
}

}  // namespace psn::app
