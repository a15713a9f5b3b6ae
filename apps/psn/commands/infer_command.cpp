// psn infer: the posterior of a model given observations, by an exact engine.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "apps/psn/commands/commands.h"
#include "apps/psn/inference_network.h"
#include "apps/psn/models.h"
#include "apps/psn/options/fallback.h"
#include "apps/psn/options/observe.h"
#include "apps/psn/options/options.h"
#include "apps/psn/output/learned_tags.h"
#include "apps/psn/output/observation_use.h"
#include "apps/psn/output/posterior_summary.h"
#include "apps/psn/output/surrogate_quality.h"
#include "apps/psn/output/watch.h"
#include "apps/psn/output_directory.h"
#include "apps/psn/pilot.h"
#include "apps/psn/ranks.h"
#include "apps/psn/unfinished_inference.h"
#include "psn/base/error.h"
#include "psn/infer/correction.h"
#include "psn/infer/diagnostics.h"
#include "psn/infer/importance.h"
#include "psn/infer/metropolis.h"
#include "psn/nn/evaluate.h"
#include "psn/nn/network_guide.h"
#include "psn/nn/surrogate.h"

namespace psn::app {
namespace {

using Json = nlohmann::ordered_json;

struct InferOptions {
  CommonOptions common;
  SimulationOptions simulation;
  FallbackOptions fallback;
  std::string engine = "is";
  std::vector<std::string> observe;
  std::string observations;
  std::vector<std::string> queries, given;
  std::size_t chains = 4;
  std::optional<std::uint64_t> burn_in;
  std::uint64_t thinning = 1;
  std::string network;  // of engine ic
  double defensive = 0;
  std::uint64_t correct = 0;   // simulator runs
  std::size_t draws = 10'000;  // kept in --out
  bool resume = false;

  bool has_chains() const { return engine == "lmh" || engine == "rmh"; }
  std::uint64_t per_chain() const { return (simulation.count + chains - 1) / chains; }
  std::uint64_t burn_in_or_default() const { return burn_in.value_or(per_chain() * thinning / 10); }
  std::uint64_t traces() const {
    if (!has_chains()) return simulation.count;
    return chains * (burn_in_or_default() + per_chain() * thinning);
  }
};

void check(const InferOptions& options) {
  const bool chains = options.has_chains();
  const std::uint64_t count = options.simulation.count;
  if (chains && options.chains > count) {
    throw InvalidArgument(fmt::format("--chains {} is more than -n {}", options.chains, count));
  }
  if ((options.engine == "ic") == options.network.empty()) {
    throw InvalidArgument(options.network.empty()
                              ? "--engine ic needs an inference network: --network FILE.psn"
                              : "--network is for --engine ic");
  }
  if (options.defensive > 0 && options.engine != "ic") {
    throw InvalidArgument("--defensive is for --engine ic");
  }
  if (options.correct == 0) return;
  if (options.resume) throw InvalidArgument("--resume does not go with --correct");
  if (!ranks().alone()) throw InvalidArgument("--correct runs in one process, without mpirun");
  if (!options.simulation.model.ends_with(".psn") || options.fallback.simulator.empty()) {
    throw InvalidArgument(
        "--correct is for a surrogate, and needs the model it stands for: --simulator MODEL");
  }
  if (chains || options.fallback.unknown != "renormalise") {
    throw InvalidArgument("--correct goes with --engine is or ic, and --unknown renormalise");
  }
}

// All chains, of which this rank runs a part.
MetropolisResult run_chains(Simulator& simulator, const Observations& observations,
                            MetropolisOptions options) {
  const std::size_t chains = options.chains;
  const std::uint64_t per_chain = (options.samples + chains - 1) / chains;
  const Part part = own_part(chains);
  options.first = part.first;
  options.chains = part.count;
  options.samples = per_chain * part.count;
  MetropolisResult result{Posterior(options.queries, 0)};
  if (part.count > 0) result = metropolis_hastings(simulator, observations, options);
  // Chains are of equal length.
  double sums[] = {result.acceptance * static_cast<double>(part.count),
                   static_cast<double>(result.iterations)};
  ranks().sum(sums);
  return {joined(std::move(result.posterior)), sums[0] / static_cast<double>(chains),
          static_cast<std::uint64_t>(sums[1])};
}

InferenceResult infer(Simulator& simulator, const Observations& observations,
                      const InferOptions& options, EngineOptions engine, const Watch& watch) {
  GuideFactory guide = prior_guide();
  if (options.engine == "ic") {
    const auto network = load_inference_network(options.network, simulator, engine.max_length);
    guide = network_guide(network, simulator, observations, {options.defensive});
  }
  const double started = watch.seconds();
  if (options.engine == "is" || options.engine == "ic") {
    const Part part = own_part(engine.samples);
    engine.first = part.first;
    engine.samples = part.count;
    Posterior posterior = joined(importance_sampling(simulator, observations, engine, guide));
    return {std::move(posterior), options.simulation.count, watch.seconds() - started};
  }
  MetropolisOptions metropolis;
  static_cast<EngineOptions&>(metropolis) = std::move(engine);
  metropolis.chains = options.chains;
  metropolis.thinning = options.thinning;
  metropolis.random_walk = options.engine == "rmh";
  metropolis.burn_in = options.burn_in_or_default();
  MetropolisResult result = run_chains(simulator, observations, metropolis);
  return {std::move(result.posterior), result.iterations, watch.seconds() - started,
          result.acceptance};
}

// What is asked of a simulator's runs: `names`, or what it has but for what was observed.
std::vector<Query> asked(const Pilot& pilot, const std::vector<std::string>& names,
                         const Observations& observations) {
  std::vector<Query> result = names.empty() ? pilot.default_queries() : pilot.queries(names);
  if (names.empty()) {
    std::erase_if(result, [&](const Query& query) { return observations.contains(query.name); });
  }
  result.push_back(observation_use(observations));
  return result;
}

// The simulator that a surrogate's posterior is corrected to, and what is asked of its runs.
struct Target {
  std::unique_ptr<Simulator> simulator;
  std::vector<Query> queries;
};

Target load_target(const InferOptions& options, const RunOptions& run,
                   const Observations& observations) {
  const SimulationOptions& s = options.simulation;
  auto simulator = load_simulator(s, options.fallback.simulator);
  const Pilot pilot(*simulator, s.parallelism, run, options.queries);
  return {std::move(simulator), asked(pilot, options.queries, observations)};
}

// The surrogate's posterior becomes the simulator's.
Json correct(InferenceResult& result, Simulator& model, const Target& target,
             const Observations& observations, const InferOptions& options, EngineOptions engine,
             Draws* draws, const Watch& watch) {
  const auto& surrogate = dynamic_cast<const SurrogateSimulator&>(model);
  engine.queries = target.queries;
  engine.samples = options.correct;
  engine.keep_traces = false;
  engine.draws = draws;
  const ParetoDiagnostic before = pareto_khat(result.posterior.log_weights());
  Json json{{"runs", options.correct},
            {"ess_before", result.posterior.effective_sample_size()},
            {"khat_before", before.khat}};
  const double started = watch.seconds();
  Correction corrected = correct_to_simulator(
      *target.simulator, observations, result.posterior,
      [&](std::span<const Trace> traces) { return path_log_prob(surrogate.compiled(), traces); },
      engine);
  json["seconds"] = watch.seconds() - started;
  json["diverged"] = corrected.diverged;
  report_failures(*target.simulator, json, options.common.quiet);
  result.posterior = std::move(corrected.posterior);
  result.effective_sample_size = corrected.effective_sample_size;
  return json;
}

void infer_command(const InferOptions& options, const CLI::App& command) {
  check(options);
  const SimulationOptions& s = options.simulation;
  Observations observations;
  if (!options.observations.empty()) add_observation_file(observations, options.observations);
  add_observations(observations, options.observe);
  const Observations held = held_values(options.given);
  const auto simulator = options.fallback.load(s, options.correct > 0);
  OutputDirectory out(s.out);
  const std::string observed = observations_json(observations);
  UnfinishedInference unfinished(s.out, effective_config(command), observed);
  const EngineState* begun = unfinished.open(options.resume, *simulator);
  EngineWindow window;
  const auto keep = [&] { return unfinished.save(window, *simulator); };
  Watch watch({.label = s.model,
               .total = options.traces(),
               .time_limit = s.time_limit,
               .progress = !options.common.quiet && ranks().leads(),
               .last_words = keep});
  const RunOptions run{.held = &held, .max_length = s.max_length, .monitor = &watch.monitor()};
  // What is corrected to is asked, not the surrogate.
  std::optional<Target> target;
  if (options.correct > 0) target = load_target(options, run, observations);
  const std::vector<std::string> queries = target ? std::vector<std::string>{} : options.queries;
  std::vector<std::string> names = queries;
  for (const auto& [name, value] : observations.values()) names.push_back(name);
  for (const auto& [name, value] : held.values()) names.push_back(name);
  const Pilot pilot(*simulator, s.parallelism, run, names);
  pilot.check(observations);
  pilot.check_held(held);
  EngineOptions engine;
  engine.samples = s.count;
  engine.keep_traces = options.correct > 0;
  engine.queries = asked(pilot, queries, observations);
  engine.held = &held;
  engine.seed = options.common.seed;
  engine.max_length = s.max_length;
  engine.parallelism = s.parallelism;
  engine.monitor = &watch.monitor();
  engine.resume = begun;
  if (options.correct == 0) engine.window = &window;

  Draws draws(options.common.seed, {.draws = options.draws});
  Draws* wanted = out && options.draws > 0 ? &draws : nullptr;
  if (!target) engine.draws = wanted;

  forget_fallbacks(*simulator);
  if (begun) watch.start_at(begun->traces());
  InferenceResult result = [&] {
    try {
      return infer(*simulator, observations, options, engine, watch);
    } catch (const Interrupted&) {
      throw InterruptedWork(keep());
    }
  }();
  result.seconds += unfinished.seconds();
  Json json{
      {"model", simulator->name()}, {"engine", options.engine}, {"seed", options.common.seed}};
  if (options.correct > 0) {
    json["correction"] =
        correct(result, *simulator, *target, observations, options, engine, wanted, watch);
  }
  if (ranks().leads()) {
    summarize_observation_use(result.posterior, observations, json);
    json.update(summarize(result));
  }
  if (!target) add_learned_tags(*simulator, result.posterior.names(), json);
  add_surrogate_quality(s.model, json);
  report_fallbacks(*simulator, json, options.common.quiet);
  report_failures(*simulator, json, options.common.quiet, unfinished.failures());
  if (wanted) join(draws);
  if (!ranks().leads()) return;
  if (out) {
    out.write_config(command);
    out.write("observations.json", observed);
    if (wanted) out.write(kDrawsFile, draws.serialize());
    result.posterior.save(out.file("posterior.safetensors"));
    result.posterior.write_csv(out.file("posterior.csv"));
    out.write("summary.json", json.dump(2) + "\n");
    out.publish();
    unfinished.finish();
  }
  if (options.common.json) {
    fmt::print("{}\n", json.dump(2));
  } else {
    print_table(json);
    print_learned_tags(json);
    print_observation_use(json);
    print_surrogate_quality(json);
  }
  if (options.common.quiet) return;
  warn_of_observation_use(json);
  warn_if_unreliable(json);
  if (options.correct == 0) warn_of_surrogate(s.model, json);
}

}  // namespace

void add_infer_command(CLI::App& program) {
  auto* command = program.add_subcommand("infer", "the posterior of a model given observations");
  auto options = std::make_shared<InferOptions>();
  options->simulation.add_to(*command, "traces (is) or kept states of all chains (lmh, rmh)");
  command
      ->add_option("--engine", options->engine,
                   "is: importance sampling; ic: the same with proposals of an inference network "
                   "(--network); lmh, rmh: Metropolis-Hastings with prior or random-walk proposals")
      ->capture_default_str()
      ->check(CLI::IsMember({"is", "ic", "lmh", "rmh"}));
  command->add_option("--network", options->network,
                      "inference network of 'psn train inference' (ic)");
  command
      ->add_option("--defensive", options->defensive,
                   "share of traces drawn from the model, which bounds the weights (ic)")
      ->capture_default_str()
      ->check(finite_between(0, 0.999));
  command
      ->add_option("--correct", options->correct,
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
      ->add_option("--query", options->queries,
                   "variables to report, by name or address; all by default; result is what the "
                   "program returns")
      ->allow_extra_args(false);
  command->add_option("--chains", options->chains, "Markov chains (lmh, rmh)")
      ->capture_default_str()
      ->check(CLI::Range(1, 1 << 20));
  command->add_option("--burn-in", options->burn_in,
                      "iterations of each chain before the first kept one; 10 % by default");
  command->add_option("--thin", options->thinning, "keep every so manieth state")
      ->capture_default_str()
      ->check(CLI::Range(1, 1 << 30));
  command
      ->add_option("--draws", options->draws,
                   "samples of which all latents are kept in OUT, for psn predict; 0: none")
      ->capture_default_str()
      ->check(CLI::Range(0, 1 << 30));
  command
      ->add_flag("--resume", options->resume,
                 "go on with an inference into --out that was interrupted, if there is")
      ->configurable(false);
  options->fallback.add_to(*command);
  options->common.add_to(*command);
  command->callback([options, command] { infer_command(*options, *command); });
}

}  // namespace psn::app
