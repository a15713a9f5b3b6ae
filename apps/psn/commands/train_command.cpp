// psn train: learns a surrogate of a model, or an inference network for it, while the model runs.
#include <fmt/format.h>

#include <unistd.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/psn/commands/commands.h"
#include "apps/psn/models.h"
#include "apps/psn/options/duration.h"
#include "apps/psn/options/options.h"
#include "apps/psn/options/preset_options.h"
#include "apps/psn/output/training_json.h"
#include "apps/psn/output/watch.h"
#include "apps/psn/pilot.h"
#include "apps/psn/ranks.h"
#include "apps/psn/training_store.h"
#include "apps/psn/unfinished.h"
#include "psn/base/atomic_file.h"
#include "psn/base/error.h"
#include "psn/nn/network_file.h"
#include "psn/train/trainer.h"
#include "psn/train/training_log.h"

namespace psn::app {
namespace {

using Json = nlohmann::ordered_json;

struct TrainCommandOptions {
  CommonOptions common;
  std::string kind, model, out, from, log;
  bool resume = false;
  PresetOptions recipe;
  std::string max_time = "0", checkpoint_every = "60s";
  double time_limit = 3600;
  std::size_t stack_kib = 0;
  RemoteArguments remote;
  StoreArguments store;
  std::uint64_t validation = 5000;

  Purpose purpose() const {
    return kind == "inference" ? Purpose::kInference : Purpose::kSurrogate;
  }
};

// `given`: of a network that is there already.
Preset configured(TrainCommandOptions& options, const NetworkConfig* given) {
  Preset chosen = options.recipe.chosen(options.purpose(), given);
  const auto& [network, training] = chosen;
  if (options.purpose() == Purpose::kInference && network.tags) {
    throw InvalidArgument("--tags learn is for surrogates");
  }
  if (options.purpose() == Purpose::kSurrogate &&
      (training.missing > 0 || !network.observe_embedding.empty())) {
    throw InvalidArgument(fmt::format("{} is for inference networks",
                                      training.missing > 0 ? "--missing" : "--observe_embedding"));
  }
  chosen.training.seconds = seconds_of(options.max_time);
  chosen.training.checkpoint_every = seconds_of(options.checkpoint_every);
  chosen.training.seed = options.common.seed;
  chosen.training.validation_traces = options.validation;
  return chosen;
}

// Where the file will go must be there, before hours of work.
void check_out(const std::string& out) {
  if (!out.ends_with(".psn")) {
    throw InvalidArgument(fmt::format("--out '{}': a network's file ends in .psn", out));
  }
  const auto folder = std::filesystem::absolute(out).parent_path();
  if (!std::filesystem::is_directory(folder)) {
    throw DataError(fmt::format("--out '{}': there is no such folder", out));
  }
  if (::access(folder.c_str(), W_OK | X_OK) != 0) {
    throw DataError(fmt::format("--out '{}': the folder cannot be written to", out));
  }
}

// The network to learn on from.
std::shared_ptr<Network> load_from(const std::string& path, Purpose purpose) {
  if (path.empty()) return nullptr;
  auto network = load_network(path).network;
  if (network->config().purpose != purpose) {
    throw InvalidArgument(fmt::format("--from '{}' is {}", path,
                                      network->infers() ? "an inference network" : "a surrogate"));
  }
  return network;
}

// Layers for a variable that the model does not have would go unnoticed.
void check_variable_names(const NetworkConfig& network, Simulator& simulator, Watch& watch) {
  std::vector<std::string> names;
  for (const auto& [name, layers] : network.variable_embedding) names.push_back(name);
  for (const auto& [name, layers] : network.observe_embedding) names.push_back(name);
  if (names.empty()) return;
  const TrainOptions defaults;
  const Pilot pilot(simulator, {}, {.max_length = defaults.max_length, .monitor = &watch.monitor()},
                    names);
  for (const auto& [name, layers] : network.variable_embedding) {
    pilot.require(name, "--variable_embedding");
  }
  for (const auto& [name, layers] : network.observe_embedding) {
    pilot.require(name, "--observe_embedding", true);
  }
}

// The end of one rank ends the others: none ends before the first has written what is left.
void wait_for_leader(const Network& network) {
  if (network.parameters().step == 0) return;  // nothing is, and not all may know that it ended
  std::string written;
  ranks().broadcast(written);
}

void print_result(const std::string& out, const Progress& last, bool infers) {
  fmt::print("{}: {} traces, {} addresses, {:.0f} traces/s\n", out, last.traces, last.addresses,
             static_cast<double>(last.traces) / last.seconds);
  if (!last.validation) return;
  const Validation& held_out = *last.validation;
  if (infers) {
    fmt::print("loss {:.4f} +- {:.4f} nats per trace, the prior's {:.4f} ({} held-out traces)\n",
               held_out.loss, held_out.standard_error, held_out.prior_loss, held_out.traces);
  } else {
    fmt::print(
        "KL from the simulator {:.4f} +- {:.4f} nats per trace ({} held-out traces, {} with "
        "something new)\n",
        held_out.kl, held_out.standard_error, held_out.traces, held_out.unseen);
  }
}

// One training, from its options to its files.
class Training {
 public:
  // Loads and checks everything.
  Training(TrainCommandOptions& options, const CLI::App& command)
      : options_(options),
        network_(load_from(options.from, options.purpose())),
        chosen_(configured(options, network_ ? &network_->config() : nullptr)),
        config_(effective_config(command)),
        unfinished_(options.out, config_),
        begun_(unfinished_.open(options.resume)),
        watch_({.label = options.model.empty() ? options.store.data : options.model,
                .total = chosen_.training.traces,
                .time_limit = options.time_limit,
                .progress = !options.common.quiet && ranks().leads(),
                .last_words = [this] { return unfinished_.hint(); }}) {
    chosen_.training.monitor = &watch_.monitor();
    chosen_.training.ranks = &ranks();
    chosen_.training.batch_done = [this](std::uint64_t traces, double loss, double kl) {
      watch_.monitor().traces.store(traces);
      watch_.note(network_->infers() ? fmt::format("loss {:.4f}", loss)
                                     : fmt::format("KL {:.4f}", kl));
    };
    open_source();
    if (begun_) go_on();
    if (!network_) network_ = std::make_shared<Network>(chosen_.network, options.common.seed);
    if (!ranks().leads()) return;
    chosen_.training.checkpoint = [this](const TrainingState& state) {
      unfinished_.save(network_, state, history_.dump(), store_ ? store_->place(state.traces) : "");
    };
    if (options.log.empty()) return;
    log_ = std::make_unique<TrainingLog>(options.log, network_->infers(), options.resume,
                                         chosen_.training.resume);
  }

  // Says with each error what is left.
  Progress run() {
    try {
      const Progress last = learn();
      if (last.finished) return last;
      wait_for_leader(*network_);
      if (watch_.monitor().stop.load()) throw Interrupted();
      return last;
    } catch (const TrainingFailed& error) {
      if (ranks().leads()) unfinished_.save_failed(network_, history_.dump());
      wait_for_leader(*network_);
      throw ModelError(error.what() + unfinished_.hint());
    } catch (const ModelError& error) {
      wait_for_leader(*network_);
      throw ModelError(error.what() + unfinished_.hint());
    } catch (const ProtocolError& error) {
      throw ProtocolError(error.what() + unfinished_.hint());
    } catch (const DataError& error) {
      throw DataError(error.what() + unfinished_.hint());
    } catch (const Interrupted&) {
      throw InterruptedWork(unfinished_.hint());
    }
  }

  void conclude(const Progress& last) {
    Json result = progress_json(last, network_->infers());
    result["seconds"] = last.seconds;
    result["traces_per_second"] = static_cast<double>(last.traces) / last.seconds;
    result["finished"] = last.finished;
    const auto warnings = training_warnings(last, network_->infers());
    result["warnings"] = warnings;
    if (simulator_) report_failures(*simulator_, result, options_.common.quiet);
    if (!ranks().leads()) return;
    if (last.finished) {
      save_network(options_.out, {network_, history_.dump()});
      write_file_atomically(options_.out + ".toml", config_);
      unfinished_.finish();
    }
    if (options_.common.json) {
      fmt::print("{}\n", result.dump(2));
    } else if (last.finished) {
      print_result(options_.out, last, network_->infers());
    } else {
      fmt::print("{} of {} traces in {}{}\n", last.traces, chosen_.training.traces,
                 options_.max_time, unfinished_.hint());
    }
    if (options_.common.quiet) return;
    for (const std::string& warning : warnings) fmt::print(stderr, "psn: warning: {}\n", warning);
  }

 private:
  // A store or a simulator; either must have the variables that a new network is told of.
  void open_source() {
    const bool is_new = !network_ && !begun_;
    if (options_.model.empty()) {
      store_ = std::make_unique<TrainingStore>(options_.store, begun_ ? begun_->source : "");
      store_->configure(chosen_.training);
      if (is_new) store_->check_variable_names(chosen_.network);
    } else {
      simulator_ =
          load_simulator(options_.model, options_.stack_kib,
                         options_.remote.options(chosen_.training.traces, options_.time_limit));
      if (is_new) check_variable_names(chosen_.network, *simulator_, watch_);
    }
  }

  void go_on() {
    network_ = begun_->network;
    chosen_.training.resume = &begun_->state;
    watch_.start_at(begun_->state.traces);
    history_ = Json::parse(begun_->history);
  }

  Progress learn() {
    const auto progress = [this](const Progress& p) { report(p); };
    return store_ ? store_->train(*network_, chosen_.training, progress)
                  : train_online(*simulator_, *network_, chosen_.training, progress);
  }

  void report(const Progress& p) {
    if (log_) log_->add(p);
    history_.push_back(progress_json(p, network_->infers()));
  }

  const TrainCommandOptions& options_;
  std::shared_ptr<Network> network_;
  Preset chosen_;
  const std::string config_;
  UnfinishedTraining unfinished_;
  const std::optional<Checkpoint> begun_;
  Watch watch_;
  std::unique_ptr<Simulator> simulator_;
  std::unique_ptr<TrainingStore> store_;
  std::unique_ptr<TrainingLog> log_;
  Json history_ = Json::array();
};

void train_command(TrainCommandOptions& options, const CLI::App& command) {
  check_out(options.out);
  if (options.model.empty() == options.store.data.empty()) {
    throw InvalidArgument("train on a model or on --data, one of both");
  }
  Training training(options, command);
  training.conclude(training.run());
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
  command->add_option("model,--model", o.model, "as for psn infer; or --data");
  command->add_option("--out", o.out, "the file to write, ending in .psn")->required();
  command
      ->add_option("--from", o.from,
                   "a trained network to learn on from: for another model, or for longer")
      ->check(CLI::ExistingFile);
  command->add_option("--log", o.log,
                      "folder for the course of the training: CSV, and events for TensorBoard");
  command->add_flag("--resume", o.resume, "go on with a training that did not finish, if there is")
      ->configurable(false);
  command
      ->add_option("--max-time", o.max_time,
                   "stop after so long, to be resumed: 90s, 30m, 4h; 0: no limit")
      ->capture_default_str()
      ->check(duration());
  command
      ->add_option("--checkpoint-every", o.checkpoint_every,
                   "time from one checkpoint to the next; 0: after every batch")
      ->capture_default_str()
      ->check(duration());
  command->add_option("--validation", o.validation, "held-out traces; 0: none")
      ->capture_default_str()
      ->check(CLI::Range(0, 1 << 30));
  o.recipe.add_to(*command);
  command
      ->add_option("--time-limit", o.time_limit,
                   "seconds that a simulation may take from one random choice to the next; 0: any")
      ->capture_default_str()
      ->check(finite_between(0, 1e9));
  add_stack_size(*command, o.stack_kib);
  o.store.add_to(*command);
  o.remote.add_to(*command);
  o.common.add_to(*command);
  command->callback([options, command] { train_command(*options, *command); });
}

}  // namespace psn::app
