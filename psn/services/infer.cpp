#include "psn/services/infer.h"

#include <fmt/format.h>

#include <atomic>
#include <memory>

#include "psn/base/error.h"
#include "psn/infer/correction.h"
#include "psn/infer/diagnostics.h"
#include "psn/infer/importance.h"
#include "psn/infer/parameter_correction.h"
#include "psn/nn/run/network_guide.h"
#include "psn/services/engine_run.h"
#include "psn/services/inference_job.h"
#include "psn/services/inference_network.h"
#include "psn/services/kept_runs.h"
#include "psn/services/model_survey.h"
#include "psn/services/ranks.h"
#include "psn/services/stopping.h"
#include "psn/services/surrogate_levels.h"
#include "psn/services/unfinished_inference.h"
#include "psn/services/warnings.h"

namespace psn::services {
namespace {

// What is asked of a simulator's runs: `names`, or what it has but for what was observed.
std::vector<Query> queries_for(const ModelSurvey& survey, const std::vector<std::string>& names,
                               const Observations& observations) {
  std::vector<Query> result = names.empty() ? survey.default_queries() : survey.queries(names);
  if (names.empty()) {
    std::erase_if(result, [&](const Query& query) { return observations.contains(query.name); });
  }
  result.push_back(observation_use_query(observations));
  return result;
}

// One inference, from its job to its result.
class Inference {
 public:
  // Loads and checks everything.
  Inference(const InferenceJob& job, Host& host)
      : job_(job),
        host_(host),
        simulator_(answers_alone(job)
                       ? open_course(job.network, job.observations)
                       : open_simulator(job.simulation, job.surrogate, host, job.correct > 0)),
        unfinished_(job.out, job.config, observations_json(job.observations), host.ranks()),
        begun_(unfinished_.open(job.resume, *simulator_)),
        work_(host, {.label = job.simulation.model, .total = traces_of(job), .rescue = [this] {
                       return save_unfinished();
                     }}) {
    configure();
    if (job.correct > 0) open_target();
    survey();
    if (!job.surrogates.empty()) levels_.emplace(job, *simulator_, host);
    if (job.correct == 0) {
      engine_.window = &window_;
      engine_.draws = wanted_draws();
    }
    if (!job.keep.empty()) kept_.emplace(job_, *simulator_, host_);
    if (job.stops_early()) {
      looks_.emplace(job_, asked_for(), kept_ ? kept_->found() : 0);
      window_.keep_end();
    }
    forget_fallbacks(*simulator_);
    if (begun_) host.work_goes_on_from(begun_->traces());
  }

  InferenceResult run() {
    InferenceResult result{.model = simulator_->name(), .engine = *job_.engine};
    sample(result);
    figures_.seconds += unfinished_.seconds();
    if (job_.correct > 0) result.correction = correct(result);
    count_runs(result);
    if (host_.ranks().leads()) {
      result.use = take_observation_use(result.posterior, job_.observations);
      result.summary = summarize(result.posterior, figures_);
    }
    if (!target_) result.learned = learned_tags(*simulator_, result.posterior.names());
    result.report = report_on(*simulator_, host_, unfinished_.failures());
    if (!answers_alone(job_)) {
      result.report.surrogate = surrogate_quality(job_.simulation.model);
    }
    if (draws_) {
      join(host_.ranks(), *draws_);
      result.draws.emplace(std::move(*draws_));
    }
    if (!host_.ranks().leads()) return result;
    for (std::string& more : warnings_of(result)) result.warnings.push_back(std::move(more));
    if (job_.save) job_.save(result);
    unfinished_.finish();
    return result;
  }

 private:
  // Of the simulator, so far in this process.
  std::uint64_t runs() const { return simulator_->runs() + (target_ ? target_->runs() : 0); }

  std::string save_unfinished() {
    return unfinished_.save(window_, *simulator_, runs() - looked_.load());
  }

  void count_runs(InferenceResult& result) {
    double counts[] = {static_cast<double>(runs() - looked_), static_cast<double>(looked_)};
    host_.ranks().sum(counts);
    result.simulator_runs = unfinished_.runs() + static_cast<std::uint64_t>(counts[0]);
    result.survey_runs = static_cast<std::uint64_t>(counts[1]);
  }

  std::vector<std::string> warnings_of(const InferenceResult& result) const {
    std::vector<std::string> warnings = posterior_warnings(result.summary);
    if (result.marginal) {
      for (std::string& more : marginal_warnings(*result.marginal, result.summary)) {
        warnings.push_back(std::move(more));
      }
    }
    if (result.delayed) {
      for (std::string& more : delayed_warnings(*result.delayed, result.summary)) {
        warnings.push_back(std::move(more));
      }
    }
    if (result.stopped) {
      for (std::string& more : stopping_warnings(*result.stopped)) {
        warnings.push_back(std::move(more));
      }
    }
    if (result.correction) {
      for (std::string& more : correction_warnings(*result.correction)) {
        warnings.push_back(std::move(more));
      }
    }
    if (result.correction || answers_alone(job_)) return warnings;
    for (std::string& more : surrogate_warnings(job_.simulation.model, result.report)) {
      warnings.push_back(std::move(more));
    }
    return warnings;
  }

  void configure() {
    const SimulationOptions& s = job_.simulation;
    engine_.samples = s.count;
    engine_.keep_traces = job_.correct > 0;
    engine_.held = &job_.held;
    engine_.seed = s.seed;
    engine_.max_length = s.max_length;
    engine_.parallelism = s.parallelism;
    engine_.monitor = &host_.monitor();
    engine_.resume = begun_;
  }

  // None of them has any samples so far.
  Draws* wanted_draws() {
    if (job_.draws == 0) return nullptr;
    return &draws_.emplace(job_.simulation.seed, Draws::Limits{.draws = job_.draws});
  }

  // What the samples are asked, without what is asked for ourselves.
  std::vector<std::string> asked_for() const {
    std::vector<std::string> names;
    for (const Query& query : engine_.queries) names.push_back(query.name);
    names.pop_back();
    return names;
  }

  // What is corrected to is asked, not the surrogate.
  void open_target() {
    const SimulationOptions& s = job_.simulation;
    target_ = open_simulator(job_.surrogate.simulator, s, s.count, host_);
    std::vector<std::string> names = job_.queries;
    names.insert(names.end(), job_.parameters.begin(), job_.parameters.end());
    for (const auto& [name, value] : job_.observations.values()) names.push_back(name);
    const ModelSurvey survey(*target_, s.parallelism, s.run_options(host_, &job_.held), names);
    survey.check_densities(job_.observations);
    for (const std::string& name : job_.parameters) survey.require(name, "`parameters`");
    target_queries_ = queries_for(survey, job_.queries, job_.observations);
  }

  void survey() {
    const SimulationOptions& s = job_.simulation;
    const std::vector<std::string> queries = target_ ? std::vector<std::string>{} : job_.queries;
    std::vector<std::string> names = queries;
    for (const auto& [name, value] : job_.observations.values()) names.push_back(name);
    for (const auto& [name, value] : job_.held.values()) {
      if (job_.observations.contains(name)) {
        throw InvalidArgument(fmt::format(
            "'{}' is both given and observed: `held` holds it, `observations` weighs it", name));
      }
      names.push_back(name);
    }
    names.insert(names.end(), job_.parameters.begin(), job_.parameters.end());
    const ModelSurvey survey(*simulator_, s.parallelism, s.run_options(host_, &job_.held), names);
    survey.check(job_.observations);
    for (const std::string& name : job_.parameters) survey.require(name, "`parameters`");
    if (job_.engine != Engine::kNetwork) survey.check_densities(job_.observations);
    survey.check_held(job_.held);
    engine_.queries = queries_for(survey, queries, job_.observations);
  }

  void sample(InferenceResult& result) try {
    GuideFactory guide = prior_guide();
    if (job_.has_network()) {
      const auto [network, remote] =
          load_inference_network(job_.network, *simulator_, engine_.max_length);
      guide = network_guide(network, *simulator_, job_.observations, {job_.defensive});
      if (remote) {
        const Network& q = network->network();
        const auto observed = observed_values(q, *simulator_, job_.observations);
        result.warnings = observation_warnings(job_.network, remoteness(q, observed), *remote);
      }
    }
    looked_ = runs();
    const Stopwatch clock;
    const auto run = [&] {
      if (kept_) return run_kept(result);
      return run_engine({job_, host_, *simulator_, engine_, guide, looks_ ? &*looks_ : nullptr,
                         levels_ ? &*levels_ : nullptr},
                        figures_, result);
    };
    if (looks_) {
      run_until(result, run);
    } else {
      result.posterior = run();
    }
    figures_.seconds = clock.seconds();
  } catch (const Interrupted&) {
    throw InterruptedWork(kept_ ? kept_->hint() : save_unfinished());
  }

  Posterior run_kept(InferenceResult& result) {
    Posterior posterior = kept_->posterior(engine_);
    figures_.traces = posterior.size();
    result.kept = {kept_->found(), posterior.size()};
    return posterior;
  }

  // The engine goes on from look to look.
  void run_until(InferenceResult& result, const std::function<Posterior()>& run) {
    engine_.samples = begun_ ? begun_->samples : looks_->first();
    for (EngineState there;;) {
      result.posterior = run();
      auto state = window_.look();
      there = state ? *std::move(state) : EngineState{.samples = result.posterior.size()};
      const auto next = looks_->next(there, result.posterior);
      if (!next) break;
      engine_.samples = *next;
      engine_.resume = &there;
      engine_.draws = wanted_draws();
    }
    engine_.resume = nullptr;
    result.stopped = looks_->figures();
  }

  // The surrogate's posterior becomes the simulator's.
  CorrectionFigures correct(InferenceResult& result) {
    EngineOptions again = engine_;
    again.queries = target_queries_;
    again.samples = job_.correct;
    again.keep_traces = false;
    again.draws = wanted_draws();
    CorrectionFigures figures{.runs = job_.correct,
                              .ess_before = result.posterior.effective_sample_size(),
                              .khat_before = pareto_khat(result.posterior.log_weights()).khat};
    const Stopwatch clock;
    if (job_.parameters.empty()) {
      Correction corrected =
          correct_to_simulator(*target_, job_.observations, result.posterior, again);
      figures.diverged = corrected.diverged;
      result.posterior = std::move(corrected.posterior);
      figures_.effective_sample_size = corrected.effective_sample_size;
    } else {
      result.posterior = correct_parameters(*target_, job_.observations, result.posterior,
                                            {job_.parameters}, again);
    }
    figures.seconds = clock.seconds();
    figures.failures = all_failures(*target_, host_);
    return figures;
  }

  const InferenceJob& job_;
  Host& host_;
  const std::unique_ptr<Simulator> simulator_;
  std::atomic<std::uint64_t> looked_{0};  // runs that only looked what the simulator is like
  UnfinishedInference unfinished_;
  const EngineState* const begun_;  // null: nothing was
  EngineWindow window_;
  std::optional<Draws> draws_;
  std::optional<SurrogateLevels> levels_;  // of delayed acceptance
  std::optional<KeptRuns> kept_;           // of importance sampling
  std::optional<Looks> looks_;             // where it may stop early
  std::unique_ptr<Simulator> target_;      // of a correction
  std::vector<Query> target_queries_;
  EngineOptions engine_;
  EngineFigures figures_;
  const WorkScope work_;  // ends before all else goes
};

}  // namespace

InferenceResult infer(const InferenceJob& job, Host& host) {
  const InferenceJob complete = completed(job);
  check_job(complete, host.ranks());
  return Inference(complete, host).run();
}

}  // namespace psn::services
