// psn train: learns a surrogate of a model, or an inference network for it, while the model runs.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/psn/commands.h"
#include "apps/psn/models.h"
#include "apps/psn/options.h"
#include "apps/psn/pilot.h"
#include "apps/psn/preset_options.h"
#include "apps/psn/training_json.h"
#include "apps/psn/watch.h"
#include "psn/base/atomic_file.h"
#include "psn/base/error.h"
#include "psn/nn/network_file.h"
#include "psn/train/trainer.h"

namespace psn::app {
namespace {

using Json = nlohmann::ordered_json;

struct TrainCommandOptions {
  CommonOptions common;
  std::string kind, model, out;
  PresetOptions recipe;
  double max_time = 0;
  double time_limit = 3600;
  RemoteArguments remote;
  std::uint64_t validation = 5000;

  Purpose purpose() const {
    return kind == "inference" ? Purpose::kInference : Purpose::kSurrogate;
  }
};

Preset configured(TrainCommandOptions& options) {
  Preset chosen = options.recipe.chosen(options.purpose());
  const auto& [network, training] = chosen;
  if (options.purpose() == Purpose::kSurrogate &&
      (training.missing > 0 || !network.observe_embedding.empty())) {
    throw InvalidArgument(fmt::format("{} is for inference networks",
                                      training.missing > 0 ? "--missing" : "--observe_embedding"));
  }
  chosen.training.seconds = options.max_time;
  chosen.training.seed = options.common.seed;
  chosen.training.validation_traces = options.validation;
  return chosen;
}

// What was learned before training failed, next to where the result would have been.
[[noreturn]] void keep_checkpoint(const ModelError& error, const std::string& out,
                                  const NetworkFile& file) {
  const std::uint64_t updates = file.network->parameters().step;
  if (updates == 0) throw error;
  const std::string path = out.substr(0, out.size() - 4) + ".checkpoint.psn";
  save_network(path, file);
  throw ModelError(
      fmt::format("{}; '{}' holds the network after {} updates", error.what(), path, updates));
}

// Layers for a variable that the model does not have would go unnoticed.
void check_variable_names(const NetworkConfig& network, Simulator& simulator, Watch& watch) {
  std::vector<std::string> names;
  for (const auto& [name, layers] : network.variable_embedding) names.push_back(name);
  for (const auto& [name, layers] : network.observe_embedding) names.push_back(name);
  if (names.empty()) return;
  const TrainOptions defaults;
  const Pilot pilot(simulator, {}, defaults.max_length, &watch.monitor(), names);
  for (const auto& [name, layers] : network.variable_embedding) {
    pilot.require(name, "--variable_embedding");
  }
  for (const auto& [name, layers] : network.observe_embedding) {
    pilot.require(name, "--observe_embedding", true);
  }
}

void train_command(TrainCommandOptions& options, const CLI::App& command) {
  if (!options.out.ends_with(".psn")) {
    throw InvalidArgument(fmt::format("--out '{}': a network's file ends in .psn", options.out));
  }
  const auto folder = std::filesystem::absolute(options.out).parent_path();
  if (!std::filesystem::is_directory(folder)) {
    throw DataError(fmt::format("--out '{}': there is no such folder", options.out));
  }
  Preset chosen = configured(options);
  const auto simulator = load_simulator(
      options.model, 0, options.remote.options(chosen.training.traces, options.time_limit));
  Watch watch({.label = options.model, .total = chosen.training.traces, .time_limit = 0});
  chosen.training.monitor = &watch.monitor();
  check_variable_names(chosen.network, *simulator, watch);
  const auto network = std::make_shared<Network>(chosen.network, options.common.seed);
  Json history = Json::array();
  const bool show = !options.common.quiet && stderr_is_terminal();
  const auto progress = [&](const Progress& p) {
    history.push_back(progress_json(p, network->infers()));
    if (show) {
      fmt::print(stderr, "\r\033[K{} of {} traces, {} {:.4f}, {} addresses, {:.0f} traces/s",
                 p.traces, chosen.training.traces, network->infers() ? "loss" : "KL",
                 network->infers() ? p.loss : p.kl, p.addresses, p.traces_per_second);
    }
  };
  Progress last;
  try {
    last = train_online(*simulator, *network, chosen.training, progress);
  } catch (const ModelError& error) {
    keep_checkpoint(error, options.out, {network, history.dump(), true});
  }
  if (show) fmt::print(stderr, "\r\033[K");
  if (watch.monitor().stop.load()) throw Interrupted();

  Json result = progress_json(last, network->infers());
  report_failures(*simulator, result, options.common.quiet);
  save_network(options.out, {network, history.dump()});
  write_file_atomically(options.out + ".toml", effective_config(command));
  if (options.common.json) {
    fmt::print("{}\n", result.dump(2));
    return;
  }
  fmt::print("{}: {} traces, {} addresses, {:.0f} traces/s\n", options.out, last.traces,
             last.addresses, static_cast<double>(last.traces) / last.seconds);
  if (last.validation && network->infers()) {
    fmt::print("loss {:.4f} +- {:.4f} nats per trace ({} held-out traces)\n", last.validation->loss,
               last.validation->standard_error, last.validation->traces);
  } else if (last.validation) {
    fmt::print(
        "KL from the simulator {:.4f} +- {:.4f} nats per trace ({} held-out traces, {} with "
        "something new)\n",
        last.validation->kl, last.validation->standard_error, last.validation->traces,
        last.validation->unseen);
  }
}

}  // namespace

void add_train_command(CLI::App& program) {
  auto* command = program.add_subcommand(
      "train", "learn a surrogate of a model, or an inference network for it");
  auto options = std::make_shared<TrainCommandOptions>();
  auto& o = *options;
  command->add_option("kind,--kind", o.kind, "what to train")
      ->required()
      ->check(CLI::IsMember({"surrogate", "inference"}));
  command->add_option("model,--model", o.model, "as for psn infer")->required();
  command->add_option("--out", o.out, "the file to write, ending in .psn")->required();
  command->add_option("--max-time", o.max_time, "seconds after which to stop; 0: none")
      ->capture_default_str()
      ->check(finite_between(0, 1e9));
  command->add_option("--validation", o.validation, "held-out traces; 0: none")
      ->capture_default_str()
      ->check(CLI::Range(0, 1 << 30));
  o.recipe.add_to(*command);
  command
      ->add_option("--time-limit", o.time_limit,
                   "seconds that a remote simulator may take from one random choice to the next")
      ->capture_default_str()
      ->check(finite_between(0, 1e9));
  o.remote.add_to(*command);
  o.common.add_to(*command);
  command->callback([options, command] { train_command(*options, *command); });
}

}  // namespace psn::app
