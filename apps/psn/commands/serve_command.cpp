// psn serve: a model as a simulator for any engine that speaks PPX. psn keys: for encryption.
#include <fmt/format.h>
#include <sys/stat.h>

#include <cstdio>
#include <memory>

#include "apps/psn/commands/commands.h"
#include "apps/psn/models.h"
#include "apps/psn/options/options.h"
#include "apps/psn/options/remote_arguments.h"
#include "apps/psn/output/watch.h"
#include "psn/base/atomic_file.h"
#include "psn/base/text.h"
#include "psn/ppx/server.h"

namespace psn::app {
namespace {

struct ServeCommandOptions {
  CommonOptions common;
  std::string model;
  std::string endpoint = ppx::kDefaultEndpoint;
  bool withhold_data = false;
  std::string curve_keys;
  std::vector<std::string> curve_allow;
};

void serve_command(const ServeCommandOptions& options) {
  const auto simulator = load_simulator(options.model, 0);
  Watch watch({.label = options.model});
  ppx::ServeOptions serve;
  serve.endpoint = options.endpoint;
  serve.seed = options.common.seed;
  serve.withhold_data = options.withhold_data;
  serve.stop = &watch.monitor().stop;
  if (!options.curve_keys.empty()) {
    const auto pair = read_keys(options.curve_keys, 2);
    serve.keys.own = {pair[0], pair[1]};
  }
  for (const std::string& path : options.curve_allow) {
    serve.keys.clients.push_back(read_keys(path, 1)[0]);
  }
  serve.ready = [&](const std::string& endpoint) {
    fmt::print("serving {} at {}{}\n", simulator->name(), endpoint,
               options.withhold_data
                   ? "; the program's own data are withheld: engines have their own "
                     "by name, or draw them"
                   : "");
    std::fflush(stdout);
  };
  serve.log = [](const std::string& line) {
    fmt::print(stderr, "psn: warning: a run failed: {}\n", one_line(line));
  };
  ppx::serve(*simulator, serve);
}

void keys_command(const std::string& path) {
  const ppx::KeyPair pair = ppx::make_key_pair();
  ::umask(0077);
  write_file_atomically(path, fmt::format("{}\n{}\n", pair.public_key, pair.secret_key));
  write_file_atomically(path + ".pub", pair.public_key + "\n");
  fmt::print("{}: both keys, keep it secret; {}.pub: the public one\n", path, path);
}

}  // namespace

void add_serve_command(CLI::App& program) {
  auto* command = program.add_subcommand("serve", "offer a model to other engines over PPX");
  auto options = std::make_shared<ServeCommandOptions>();
  command->add_option("model,--model", options->model, "as for psn infer, also a surrogate")
      ->required();
  command
      ->add_option("--ppx", options->endpoint,
                   "where: tcp://ADDRESS:PORT (port *: any that is free) or ipc:///PATH")
      ->capture_default_str();
  command->add_flag("--withhold-data", options->withhold_data,
                    "keep the program's own data from the engine: for one that learns from runs");
  command->add_option("--curve-keys", options->curve_keys,
                      "file with our own keys (psn keys): encrypts the connection");
  command
      ->add_option("--curve-allow", options->curve_allow,
                   "file with the public key of an engine that may connect; all, if none is given")
      ->needs("--curve-keys")
      ->allow_extra_args(false);
  options->common.add_to(*command);
  command->callback([options] { serve_command(*options); });

  auto* keys = program.add_subcommand("keys", "make a pair of keys for encrypted connections");
  auto path = std::make_shared<std::string>();
  keys->add_option("file", *path, "to write; FILE.pub gets the public key")->required();
  keys->callback([path] { keys_command(*path); });
}

}  // namespace psn::app
