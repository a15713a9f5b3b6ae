// psn predict: what would be observed again, given a posterior that psn infer wrote.
#include <fmt/format.h>

#include <toml++/toml.h>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/psn/commands/commands.h"
#include "apps/psn/options/fallback.h"
#include "apps/psn/options/observe.h"
#include "apps/psn/options/options.h"
#include "apps/psn/output/learned_tags.h"
#include "apps/psn/output/posterior_summary.h"
#include "apps/psn/output/watch.h"
#include "apps/psn/output_directory.h"
#include "apps/psn/pilot.h"
#include "psn/base/atomic_file.h"
#include "psn/base/error.h"
#include "psn/infer/predict.h"

namespace psn::app {
namespace {

struct PredictOptions {
  CommonOptions common;
  SimulationOptions simulation;
  FallbackOptions fallback;
  std::string posterior;  // directory
  std::vector<std::string> queries, given;
};

// The simulator that a posterior is of: with --correct that which was corrected to.
std::string model_of(const std::string& directory) {
  const std::string path = directory + "/config.toml";
  try {
    const toml::table config = toml::parse(read_file(path), path);
    const bool corrected = config["correct"].value_or(std::int64_t{0}) > 0;
    const auto model = config[corrected ? "simulator" : "model"].value<std::string>();
    if (model) return *model;
  } catch (const toml::parse_error& error) {
    throw DataError(
        fmt::format("'{}', line {}: {}", path, error.source().begin.line, error.description()));
  }
  throw DataError(fmt::format("'{}' names no model", path));
}

Draws load_draws(const std::string& directory) {
  const std::string path = directory + "/" + kDrawsFile;
  if (!std::filesystem::exists(path)) {
    throw DataError(
        fmt::format("'{}' has no {}: it is made by psn infer --out, unless --draws is 0", directory,
                    kDrawsFile));
  }
  return Draws::parse(read_file(path), path);
}

// The observations that every run makes, if there are any; else everything.
std::vector<Query> default_predictions(const Pilot& pilot) {
  std::vector<Query> all = pilot.default_queries(true), observed;
  const std::vector<Query> latent = pilot.default_queries();
  for (const Query& query : all) {
    const bool is_latent = std::any_of(latent.begin(), latent.end(),
                                       [&](const Query& l) { return l.name == query.name; });
    if (!is_latent) observed.push_back(query);
  }
  return observed.empty() ? all : observed;
}

void predict_command(PredictOptions& options, const CLI::App& command) {
  SimulationOptions& s = options.simulation;
  const Draws draws = load_draws(options.posterior);
  if (s.model.empty()) s.model = model_of(options.posterior);
  const Observations held = held_values(options.given);
  const auto simulator = options.fallback.load(s);
  OutputDirectory out(s.out);
  Watch watch({.label = s.model,
               .total = s.count,
               .time_limit = s.time_limit,
               .progress = !options.common.quiet});
  const Pilot pilot(*simulator, s.parallelism,
                    {.held = &held, .max_length = s.max_length, .monitor = &watch.monitor()},
                    options.queries);
  pilot.check_held(held);
  EngineOptions engine;
  engine.samples = s.count;
  engine.queries =
      options.queries.empty() ? default_predictions(pilot) : pilot.queries(options.queries);
  engine.held = &held;
  engine.seed = options.common.seed;
  engine.max_length = s.max_length;
  engine.parallelism = s.parallelism;
  engine.monitor = &watch.monitor();
  forget_fallbacks(*simulator);
  const double started = watch.seconds();
  const Prediction prediction = predict(*simulator, draws, engine);
  const double rate = static_cast<double>(s.count) / (watch.seconds() - started);

  nlohmann::ordered_json json{{"model", simulator->name()},
                              {"posterior", options.posterior},
                              {"seed", options.common.seed},
                              {"samples", prediction.samples.size()},
                              {"draws", draws.kept().size()},
                              {"new_latents", prediction.new_latents},
                              {"predictive", summarize_columns(prediction.samples)},
                              {"traces_per_second", rate}};
  add_learned_tags(*simulator, prediction.samples.names(), json);
  report_fallbacks(*simulator, json, options.common.quiet);
  report_failures(*simulator, json, options.common.quiet);
  if (out) {
    out.write_config(command);
    prediction.samples.save(out.file("predictive.safetensors"));
    prediction.samples.write_csv(out.file("predictive.csv"));
    out.write("summary.json", json.dump(2) + "\n");
    out.publish();
  }
  if (options.common.json) {
    fmt::print("{}\n", json.dump(2));
    return;
  }
  print_columns(json["predictive"]);
  print_learned_tags(json);
  fmt::print("{} runs of {} draws in '{}', {:.0f} traces/s", prediction.samples.size(),
             draws.kept().size(), simulator->name(), rate);
  if (prediction.new_latents > 0) {
    fmt::print(", {} latents that no draw had a value for", prediction.new_latents);
  }
  fmt::print("\n");
}

}  // namespace

void add_predict_command(CLI::App& program) {
  auto* command = program.add_subcommand(
      "predict", "what would be observed again, given a posterior of psn infer --out");
  auto options = std::make_shared<PredictOptions>();
  command->add_option("posterior,--posterior", options->posterior, "directory of psn infer --out")
      ->required();
  options->simulation.add_to(*command, "runs, each of a draw of the posterior");
  command->get_option("--model")->required(false)->description(
      "what to run, a simulator or a surrogate; by default what the posterior is of");
  command
      ->add_option(
          "--query", options->queries,
          "variables to report, by name or address; the observations by default; result is "
          "what the program returns")
      ->allow_extra_args(false);
  command->add_option("--given", options->given, "NAME=VALUE: hold a latent at another value")
      ->allow_extra_args(false);
  options->fallback.add_to(*command);
  options->common.add_to(*command);
  command->callback([options, command] { predict_command(*options, *command); });
}

}  // namespace psn::app
