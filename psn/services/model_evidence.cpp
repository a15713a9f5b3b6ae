#include "psn/services/model_evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "psn/base/error.h"
#include "psn/base/numerics.h"
#include "psn/base/text.h"
#include "psn/services/warnings.h"

namespace psn::services {
namespace {

constexpr std::uint64_t kPilot = 10;  // part of the samples
constexpr std::uint64_t kLeastPilot = 200;
constexpr std::uint64_t kPilotSeed = 0x70696c6f74;
constexpr double kMostError = 0.5;

void check_evidence(const EvidenceJob& job, Host& host) {
  if (job.models.empty()) throw InvalidArgument("`models`: whose evidence?");
  for (std::size_t i = 0; i < job.models.size(); ++i) {
    if (std::count(job.models.begin(), job.models.end(), job.models[i]) > 1) {
      throw InvalidArgument(fmt::format("`models`: '{}' is there twice", job.models[i]));
    }
  }
  for (const auto& [model, network] : job.networks) {
    if (std::count(job.models.begin(), job.models.end(), model) > 0) continue;
    throw InvalidArgument(fmt::format("`network` is of '{}', which is none of the models{}", model,
                                      suggestion(model, job.models)));
  }
  if (!host.ranks().alone()) {
    throw InvalidArgument("evidence is computed in one process, without mpirun");
  }
}

// Of one model.
class Weighing {
 public:
  Weighing(const EvidenceJob& job, std::string model, Host& host)
      : job_(job), host_(host), model_(std::move(model)) {}

  ModelEvidence run(std::vector<std::string>& warnings) {
    const auto network = job_.networks.find(model_);
    Engine engine = Engine::kImportance;
    if (network != job_.networks.end()) engine = better(network->second);
    const InferenceResult result = infer(engine, job_.simulation.count, job_.simulation.seed);
    ModelEvidence evidence{.model = model_, .engine = engine};
    const PosteriorSummary& summary = result.summary;
    evidence.log_evidence = summary.log_evidence;
    evidence.ess = summary.ess;
    evidence.khat = summary.khat;
    // The relative error of the mean weight, by the delta method.
    evidence.error =
        std::sqrt(std::max(0.0, 1 / summary.ess - 1 / static_cast<double>(summary.samples)));
    evidence.simulator_runs = simulator_runs_;
    evidence.survey_runs = survey_runs_;
    for (const auto* of : {&result.warnings, &std::as_const(use_warnings_)}) {
      for (const std::string& warning : *of) {
        warnings.push_back(fmt::format("'{}': {}", model_, warning));
      }
    }
    if (evidence.error > kMostError) {
      warnings.push_back(fmt::format(
          "'{}': its evidence is hardly known: the standard error of its logarithm is {:.2f}, and "
          "an estimate that is off is nearly always too low; more samples (`count`), or a "
          "`network`",
          model_, evidence.error));
    }
    return evidence;
  }

 private:
  // By what share of their samples counts, in a pilot whose samples count nowhere else.
  Engine better(const std::string& network) {
    network_ = network;
    const std::uint64_t count = std::max(kLeastPilot, job_.simulation.count / kPilot);
    const std::uint64_t seed = job_.simulation.seed ^ kPilotSeed;
    double prior = 0;
    try {
      prior = infer(Engine::kImportance, count, seed).summary.ess;
    } catch (const ModelError&) {  // no weight at all, or a model that fails in what follows, too
    }
    const double proposed = infer(Engine::kCompiled, count, seed).summary.ess;
    return proposed > prior ? Engine::kCompiled : Engine::kImportance;
  }

  InferenceResult infer(Engine engine, std::uint64_t count, std::uint64_t seed) {
    InferenceJob job{.simulation = job_.simulation};
    job.simulation.model = model_;
    job.simulation.count = count;
    job.simulation.seed = seed;
    job.engine = engine;
    job.observations = job_.observations;
    job.held = job_.held;
    if (engine == Engine::kCompiled) {
      job.network = network_;
      job.defensive = job_.defensive;
    }
    InferenceResult result = services::infer(job, host_);
    simulator_runs_ += result.simulator_runs;
    survey_runs_ += result.survey_runs;
    use_warnings_ = observation_use_warnings(result.use);
    return result;
  }

  const EvidenceJob& job_;
  Host& host_;
  const std::string model_;
  std::string network_;
  std::uint64_t simulator_runs_ = 0, survey_runs_ = 0;
  std::vector<std::string> use_warnings_;
};

}  // namespace

EvidenceResult model_evidence(const EvidenceJob& job, Host& host) {
  check_evidence(job, host);
  EvidenceResult result;
  std::vector<double> all;
  for (const std::string& model : job.models) {
    result.models.push_back(Weighing(job, model, host).run(result.warnings));
    all.push_back(result.models.back().log_evidence);
  }
  const auto best = std::max_element(all.begin(), all.end());
  const double total = log_sum_exp(all);
  result.best = job.models[static_cast<std::size_t>(best - all.begin())];
  for (ModelEvidence& evidence : result.models) {
    evidence.log_bayes_factor = evidence.log_evidence - *best;
    evidence.probability = std::exp(evidence.log_evidence - total);
  }
  return result;
}

}  // namespace psn::services
