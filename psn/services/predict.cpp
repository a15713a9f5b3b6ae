#include "psn/services/predict.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <filesystem>
#include <optional>
#include <unordered_set>

#include "psn/base/error.h"
#include "psn/infer/predict.h"
#include "psn/io/atomic_file.h"
#include "psn/services/output_directory.h"

namespace psn::services {
namespace {

// The simulator that a posterior is of: with --correct that which was corrected to.
std::string model_of(const std::string& folder) {
  const std::string path = folder + "/" + kConfigFile;
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

Draws load_draws(const std::string& folder) {
  const std::string path = folder + "/" + kDrawsFile;
  if (!std::filesystem::exists(path)) {
    throw DataError(fmt::format(
        "'{}' has no {}: it is made by psn infer --out, unless --draws is 0", folder, kDrawsFile));
  }
  return Draws::parse(read_file(path), path);
}

// The observations that every run makes, if there are any; else everything.
std::vector<Query> default_predictions(const ModelSurvey& survey) {
  std::vector<Query> all = survey.default_queries(true), observed;
  std::unordered_set<std::string> latents;  // may be a million
  for (Query& query : survey.default_queries()) latents.insert(std::move(query.name));
  for (const Query& query : all) {
    if (!latents.contains(query.name)) observed.push_back(query);
  }
  return observed.empty() ? all : observed;
}

}  // namespace

PredictionResult predict(PredictionJob job, Host& host) {
  std::optional<Draws> loaded;
  if (!job.kept) loaded.emplace(load_draws(job.posterior));
  const Draws& draws = job.kept ? *job.kept : *loaded;
  SimulationOptions& s = job.simulation;
  if (s.model.empty()) s.model = model_of(job.posterior);
  ForwardRun forward(job, host);
  EngineOptions engine;
  engine.samples = s.count;
  engine.queries = job.queries.empty() ? default_predictions(forward.survey())
                                       : forward.survey().queries(job.queries);
  engine.held = &job.held;
  engine.seed = s.seed;
  engine.max_length = s.max_length;
  engine.parallelism = s.parallelism;
  engine.monitor = &host.monitor();
  const Stopwatch clock;
  Prediction prediction = psn::predict(forward.simulator(), draws, engine);
  PredictionResult result{.model = forward.simulator().name()};
  result.traces_per_second = static_cast<double>(s.count) / clock.seconds();
  result.samples = std::move(prediction.samples);
  result.columns = summarize_columns(result.samples);
  result.draws = draws.kept().size();
  result.new_latents = prediction.new_latents;
  result.learned = learned_tags(forward.simulator(), result.samples.names());
  result.report = forward.report();
  return result;
}

}  // namespace psn::services
