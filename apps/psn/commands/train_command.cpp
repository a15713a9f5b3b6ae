// psn train: learns a surrogate of a model, or an inference network for it, while the model runs.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "apps/psn/commands/commands.h"
#include "apps/psn/options/duration.h"
#include "apps/psn/options/options.h"
#include "apps/psn/options/preset_options.h"
#include "apps/psn/options/remote_options.h"
#include "apps/psn/output/page_output.h"
#include "apps/psn/output/report_output.h"
#include "apps/psn/program_host.h"
#include "psn/base/error.h"
#include "psn/nn/network.h"
#include "psn/services/budget.h"
#include "psn/services/option_names.h"
#include "psn/services/saving/results.h"
#include "psn/services/stores.h"

namespace psn::app {
namespace {

struct TrainCommandOptions {
  CommonOptions common;
  std::string kind, from;
  PresetOptions recipe;
  std::string budget = "0", max_time = "0", checkpoint_every = "60s";
  std::uint64_t validation = 5000;
  bool open = false;
  services::TrainingJob job;

  Purpose purpose() const {
    return kind == "inference" ? Purpose::kInference : Purpose::kSurrogate;
  }
};

// As if it had been given by hand; so it stands in the effective configuration.
void give(CLI::App& command, const std::string& option, std::uint64_t value) {
  command.get_option(option)->add_result(std::to_string(value));
  command.get_option(option)->run_callback();
}

// From a time to numbers of traces. Numbers that are given, as they are in the configuration of an
// earlier training, are not measured again.
void spend_budget(TrainCommandOptions& options, CLI::App& command, services::Host& host) {
  const double seconds = seconds_of(options.budget);
  if (seconds == 0 || command.count("--traces") > 0) return;
  services::TrainingJob& job = options.job;
  if (job.model.empty()) {
    throw InvalidArgument(
        "--budget is for a model: training on --data ends by itself when it no longer improves "
        "(--max-time stops it before)");
  }
  auto amount = job.resume ? services::amount_begun(job.out) : std::nullopt;
  if (!amount) {
    job.recipe =
        options.recipe.chosen(options.purpose(), job.from ? &job.from->config() : nullptr, 0);
    job.recipe.training.seed = options.common.seed;
    amount = services::amount_within(job, seconds, host);
  }
  give(command, "--traces", amount->traces);
  if (command.count("--validation") == 0) give(command, "--validation", amount->validation);
}

void complete_job(TrainCommandOptions& options, CLI::App& command, services::Host& host) {
  services::TrainingJob& job = options.job;
  job.from = services::load_trained(options.from, options.purpose());
  spend_budget(options, command, host);
  // How much is asked for by hand is not for us to plan.
  const bool planned = job.model.empty() && !job.data.store.empty() && job.data.epochs == 0 &&
                       command.count("--traces") == 0 && options.validation > 0;
  const std::uint64_t stored = planned ? services::store_contents(job.data.store, 1).traces : 0;
  job.recipe =
      options.recipe.chosen(options.purpose(), job.from ? &job.from->config() : nullptr, stored);
  TrainOptions& training = job.recipe.training;
  training.seconds = seconds_of(options.max_time);
  training.checkpoint_every = seconds_of(options.checkpoint_every);
  training.seed = options.common.seed;
  training.validation_traces = options.validation;
  job.config = effective_config(command);
}

void print_result(const std::string& out, const services::TrainingResult& result) {
  const Progress& last = result.last;
  fmt::print("{}: {} traces, {} addresses, {:.0f} traces/s\n", out, last.traces, last.addresses,
             result.traces_per_second());
  if (!last.validation) return;
  const Validation& held_out = *last.validation;
  if (result.infers) {
    fmt::print("loss {:.4f} +- {:.4f} nats per trace, the prior's {:.4f} ({} held-out traces)\n",
               held_out.loss, held_out.standard_error, held_out.prior_loss, held_out.traces);
  } else {
    fmt::print(
        "KL from the simulator {:.4f} +- {:.4f} nats per trace ({} held-out traces, {} with "
        "something new)\n",
        held_out.kl, held_out.standard_error, held_out.traces, held_out.unseen);
  }
  if (!result.verdict.empty())
    fmt::print("verdict: {}\n", services::with_option_names(result.verdict));
}

void train_command(TrainCommandOptions& options, CLI::App& command) {
  const bool quiet = options.common.quiet;
  ProgramHost host(!quiet, options.job.simulator.time_limit);
  complete_job(options, command, host);
  const services::TrainingResult result = services::train(options.job, host);
  if (!host.ranks().leads()) return;
  services::save_summary(result, options.job);
  if (!quiet) warn_of_failures(result.failures);
  if (options.common.json) {
    fmt::print("{}\n", services::json_of(result, options.job).dump(2));
  } else if (result.last.finished) {
    print_result(options.job.out, result);
  } else {
    fmt::print("{} of {} traces in {}{}\n", result.last.traces, result.traces, options.max_time,
               services::with_option_names(result.left));
  }
  leave_page(options.job.log, {quiet, options.open});
  if (!quiet) print_warnings(services::with_option_names(result.warnings));
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
  command->add_option("model,--model", o.job.model, "as for psn infer; or --data");
  command->add_option("--out", o.job.out, "the file to write, ending in .psn")->required();
  command
      ->add_option("--from", o.from,
                   "a trained network to learn on from: for another model, or for longer")
      ->check(CLI::ExistingFile);
  command->add_option("--log", o.job.log,
                      "folder for the course of the training: CSV, and events for TensorBoard");
  command
      ->add_flag("--resume", o.job.resume, "go on with a training that did not finish, if there is")
      ->configurable(false);
  command
      ->add_option("--budget", o.budget,
                   "as many traces as can be learned from in this time, which is measured first: "
                   "90s, 10m, 4h; 0: as --traces says")
      ->capture_default_str()
      ->check(duration());
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
      ->add_option("--time-limit", o.job.simulator.time_limit,
                   "seconds that a simulation may take from one random choice to the next; 0: any")
      ->capture_default_str()
      ->check(finite_between(0, 1e9));
  add_stack_size(*command, o.job.simulator.stack_kib);
  command->add_option("--data", o.job.data.store,
                      "a trace store (psn data generate) to learn from, instead of a model");
  command
      ->add_option(
          "--epochs", o.job.data.epochs,
          "with --data: passes over the store; 0: as --traces has it, or as many as it bears")
      ->capture_default_str()
      ->check(finite_between(0, 1e9));
  add_remote_options(*command, o.job.simulator.remote);
  add_open(*command, o.open);
  o.common.add_to(*command);
  command->callback([options, command] { train_command(*options, *command); });
}

}  // namespace psn::app
