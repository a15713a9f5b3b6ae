#include "psn/services/surrogate_levels.h"

#include <fmt/format.h>

#include "psn/base/error.h"
#include "psn/nn/network_file.h"
#include "psn/nn/run/alongside.h"
#include "psn/services/model_survey.h"

namespace psn::services {

SurrogateLevels::SurrogateLevels(const InferenceJob& job, Simulator& simulator, Host& host)
    : job_(job) {
  const SimulationOptions& s = job.simulation;
  std::vector<std::string> names;
  for (const Observations* given : {&job.observations, &job.held}) {
    for (const auto& [name, value] : given->values()) names.push_back(name);
  }
  names.insert(names.end(), job.parameters.begin(), job.parameters.end());
  for (const std::string& path : job.surrogates) {
    auto& surrogate = *surrogates_.emplace_back(std::make_unique<SurrogateSimulator>(
        path, load_network(path).network, SurrogateOptions{.addresses = &simulator.addresses()}));
    const ModelSurvey survey(surrogate, s.parallelism, s.run_options(host, &job.held), names);
    survey.check(job.observations);
    survey.check_held(job.held);
    for (const std::string& name : job.parameters) survey.require(name, "`parameters`");
  }
}

std::vector<SurrogateLevel> SurrogateLevels::levels() const {
  std::vector<SurrogateLevel> levels;
  for (const auto& surrogate : surrogates_) {
    levels.push_back(
        {surrogate.get(), Alongside(surrogate->compiled(), &job_.observations, &job_.held)});
  }
  return levels;
}

std::vector<std::string> delayed_warnings(const DelayedFigures& figures,
                                          const PosteriorSummary& summary) {
  constexpr double kFewAccepted = 0.05, kMostKhat = 0.7;
  std::vector<std::string> warnings;
  if (summary.acceptance < kFewAccepted) {
    warnings.push_back(fmt::format(
        "{:.1f} % of the proposals were accepted, the longest stay in one state is {} iterations: "
        "the surrogate's posterior is far from the model's here; train the surrogate longer",
        100 * summary.acceptance, figures.longest_stay));
  } else if (figures.khat > kMostKhat) {
    warnings.push_back(fmt::format(
        "Pareto k-hat of the weights between surrogate and model is {:.2f}: a chain may have been "
        "stuck for long (at most {} iterations here) where the surrogate finds too little; more "
        "`chains`, or train the surrogate longer",
        figures.khat, figures.longest_stay));
  }
  return warnings;
}

std::vector<std::string> correction_warnings(const CorrectionFigures& figures) {
  if (2 * figures.diverged <= figures.runs) return {};
  return {fmt::format(
      "{} of the {} runs of the correction took another path than the surrogate's: `parameters` "
      "NAME,NAME proposes these latents alone, and leaves the rest to the simulator",
      figures.diverged, figures.runs)};
}

std::vector<std::string> marginal_warnings(const MarginalFigures& figures,
                                           const PosteriorSummary& summary) {
  constexpr double kTooNoisy = 4, kFewMoves = 0.02;
  if (figures.variance > kTooNoisy) {
    return {fmt::format(
        "estimates of the likelihood are noisy: their logarithm's variance is {:.1f} with {:.0f} "
        "runs each, so chains stay where an estimate was lucky (at most {} iterations here); more "
        "`parameters`, among them what the observations tell most about, or fewer observations",
        figures.variance, figures.runs, figures.longest_stay)};
  }
  if (summary.acceptance < kFewMoves) {
    return {
        fmt::format("{:.1f} % of the proposals were accepted, the longest stay in one state is "
                    "{} iterations: a longer `burn_in`",
                    100 * summary.acceptance, figures.longest_stay)};
  }
  return {};
}

}  // namespace psn::services
