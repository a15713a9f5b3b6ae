// psn infer: the posterior of a model given observations, by an exact engine or as a network has
// it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "apps/psn/commands/commands.h"
#include "apps/psn/options/observe.h"
#include "apps/psn/options/options.h"
#include "apps/psn/options/surrogate_options.h"
#include "apps/psn/output/observation_output.h"
#include "apps/psn/output/page_output.h"
#include "apps/psn/output/posterior_output.h"
#include "apps/psn/output/report_output.h"
#include "apps/psn/program_host.h"
#include "psn/services/engine_names.h"
#include "psn/services/option_names.h"
#include "psn/services/output_directory.h"
#include "psn/services/saving/results.h"
#include "psn/services/warnings.h"

namespace psn::app {
namespace {

using services::InferenceResult;

struct InferOptions {
  CommonOptions common;
  SimulationArguments simulation;
  SurrogateArguments surrogate;
  std::string engine = "auto";
  std::vector<std::string> observe, given;
  std::string observations;
  std::size_t draws = 10'000;  // kept in --out
  services::InferenceJob job;
};

void complete_job(InferOptions& options, const CLI::App& command) {
  services::InferenceJob& job = options.job;
  job.simulation = options.simulation;
  job.simulation.seed = options.common.seed;
  job.surrogate = options.surrogate.use();
  if (options.engine != "auto") job.engine = services::engine_names().at(options.engine);
  if (!options.observations.empty()) add_observation_file(job.observations, options.observations);
  add_observations(job.observations, options.observe);
  job.held = held_values(options.given);
  job.out = options.simulation.out;
  job.draws = job.out.empty() ? 0 : options.draws;
  job.config = effective_config(command);
}

void print_stop(const services::StoppingFigures& stopped) {
  using Reason = services::StoppingFigures::Reason;
  fmt::print("stopped: {}", stopped.reason == Reason::kPrecision ? "precise enough"
                            : stopped.reason == Reason::kRuns    ? "the runs are spent"
                                                                 : "the samples are there");
  for (const auto& c : stopped.conditions) fmt::print(", {}: {:.4g}", c.text, c.figure);
  if (!stopped.conditions.empty()) fmt::print("; looked every {} samples or more", stopped.every);
  fmt::print("\n");
}

void print_result(const InferenceResult& result) {
  const services::PosteriorSummary& summary = result.summary;
  const bool about_itself = result.correction || summary.approximate;
  print_summary(summary, result.report.failures.runs);
  if (const auto& delayed = result.delayed) {
    fmt::print(
        "{:.0f} moves inside the surrogate for one run, longest stay {} iterations, Pareto k-hat "
        "of "
        "the weights {:.2f}\n",
        fmt::join(delayed->moves, ", "), delayed->longest_stay, delayed->khat);
  }
  if (const auto& marginal = result.marginal) {
    fmt::print("{:.0f} runs for an estimate, its logarithm's variance {:.2f}, ", marginal->runs,
               marginal->variance);
    if (marginal->moves > 0)
      fmt::print("{:.0f} moves inside the surrogate for one, ", marginal->moves);
    fmt::print("longest stay {} iterations\n", marginal->longest_stay);
  }
  if (const auto& kept = result.kept) {
    fmt::print("{} of {} runs were kept from before\n", kept->found, kept->runs);
  }
  if (result.stopped) print_stop(*result.stopped);
  fmt::print("runs of the simulator: {}, and {} to see what it is like\n", result.simulator_runs,
             result.survey_runs);
  print_learned_tags(result.learned);
  print_observation_use(result.use);
  print_surrogate_quality(result.report, about_itself         ? ""
                                         : summary.chains > 0 ? "R-hat"
                                                              : "k-hat");
}

void infer_command(InferOptions& options, const CLI::App& command) {
  complete_job(options, command);
  services::OutputDirectory out(options.job.out);
  const bool quiet = options.common.quiet;
  const auto tell_of = [&](const InferenceResult& result) {
    if (result.correction) warn_of_failures(result.correction->failures);
    tell_of_runs(result.report);
  };
  options.job.save = [&](const InferenceResult& result) {
    if (!quiet) tell_of(result);
    if (out) services::save(result, options.job, options.job.config, out);
  };
  ProgramHost host(!quiet, options.job.simulation.time_limit);
  const InferenceResult result = services::infer(options.job, host);
  if (!host.ranks().leads()) return;
  if (options.common.json) {
    fmt::print("{}\n", services::json_of(result, options.job).dump(2));
  } else {
    print_result(result);
  }
  leave_page(options.job.out, {quiet, options.simulation.open});
  if (quiet) return;
  print_warnings(services::with_option_names(services::observation_use_warnings(result.use)));
  if (result.summary.approximate) {
    fmt::print(stderr,
               "psn: these are the network's own draws, as close to the posterior as its training "
               "brought it; --engine ic weighs them to be exact\n");
  }
  print_warnings(services::with_option_names(result.warnings));
}

}  // namespace

void add_infer_command(CLI::App& program) {
  auto* command = program.add_subcommand("infer", "the posterior of a model given observations");
  auto options = std::make_shared<InferOptions>();
  options->simulation.add_to(
      *command, "traces (is, ic, network) or kept states of all chains (lmh, rmh, da, pm)");
  command
      ->add_option(
          "--engine", options->engine,
          "is: importance sampling; ic: the same with proposals of an inference network "
          "(--network); network: these proposals themselves, not weighed, so approximate; "
          "lmh, rmh: "
          "Metropolis-Hastings with prior or random-walk proposals; da: delayed "
          "acceptance, moves inside --surrogate that single runs of MODEL accept or "
          "reject; pm: moves of --parameters, with an estimate of their density by several "
          "runs of MODEL each; auto: is, pm with --parameters, or network "
          "if MODEL is the file of an inference network, which answers alone if its "
          "program has no branches")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "is", "ic", "network", "lmh", "rmh", "da", "pm"}));
  command->add_option("--network", options->job.network,
                      "inference network of 'psn train inference' (ic, network)");
  command
      ->add_option(
          "--surrogate", options->job.surrogates,
          "surrogate of MODEL to move in (da, pm); several, coarsest first, by repeating it "
          "(da)")
      ->allow_extra_args(false);
  command
      ->add_option(
          "--parameters", options->job.parameters,
          "latents to move, by name, with commas between them; the rest is drawn by MODEL "
          "(pm; da with these is pm inside --surrogate); with --correct: latents to propose")
      ->delimiter(',')
      ->allow_extra_args(false);
  command
      ->add_option("--moves", options->job.moves,
                   "moves inside a surrogate for one run of the model, at most; adapted in burn-in "
                   "(da, pm)")
      ->capture_default_str()
      ->check(CLI::Range(1, 1 << 20));
  command
      ->add_option("--fresh", options->job.fresh,
                   "share of proposals that are whole new runs of the model, which find what the "
                   "surrogate rules out, or a walk (da, pm)")
      ->capture_default_str()
      ->check(finite_between(0, 1));
  command
      ->add_option("--defensive", options->job.defensive,
                   "share of traces drawn from the model, which bounds the weights (ic)")
      ->capture_default_str()
      ->check(finite_between(0, 0.999));
  command
      ->add_option("--correct", options->job.correct,
                   "for a surrogate: run this many samples of its posterior again in --simulator, "
                   "and weigh them to be the simulator's posterior")
      ->check(CLI::Range(1, 1 << 30));
  command
      ->add_option("--observe", options->observe,
                   "NAME=VALUE, of an observation or a latent, by name or address; a vector is "
                   "[1, 2], and [1, null] one with a gap")
      ->allow_extra_args(false);
  command
      ->add_option("--given", options->given,
                   "NAME=VALUE: hold a latent at a value, without weighing it")
      ->allow_extra_args(false);
  command->add_option("--observations", options->observations, "JSON or CSV file of observations");
  command
      ->add_option("--query", options->job.queries,
                   "variables to report, by name or address; all by default; result is what the "
                   "program returns")
      ->allow_extra_args(false);
  command->add_option("--chains", options->job.chains, "Markov chains (lmh, rmh, da, pm)")
      ->capture_default_str()
      ->check(CLI::Range(1, 1 << 20));
  command->add_option("--burn-in", options->job.burn_in,
                      "iterations of each chain before the first kept one; 10 % by default");
  command->add_option("--thin", options->job.thinning, "keep every so manieth state")
      ->capture_default_str()
      ->check(CLI::Range(1, 1 << 30));
  command
      ->add_option("--until", options->job.until,
                   "goes on until ess=1000, ess(NAME) > 400, mcse(NAME) < 0.01 (the standard error "
                   "of its mean) or rhat < 1.01 holds; several: all of them. With a look every -n "
                   "samples, further apart when there are many")
      ->allow_extra_args(false);
  command
      ->add_option(
          "--max-runs", options->job.max_runs,
          "runs of MODEL at most, burn-in included; few to see what it is like come on top")
      ->check(CLI::Range(1, 1 << 30));
  command->add_option("--keep", options->job.keep,
                      "trace store of runs: those that are there are used again, and new ones are "
                      "kept for the next question, whatever it observes, and for training (is)");
  command
      ->add_option("--draws", options->draws,
                   "samples of which all latents are kept in OUT, for psn predict; 0: none")
      ->capture_default_str()
      ->check(CLI::Range(0, 1 << 30));
  command
      ->add_flag("--resume", options->job.resume,
                 "go on with an inference into --out that was interrupted, if there is")
      ->configurable(false);
  options->surrogate.add_to(*command);
  options->common.add_to(*command);
  command->callback([options, command] { infer_command(*options, *command); });
}

}  // namespace psn::app
