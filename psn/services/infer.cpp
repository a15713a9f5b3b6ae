#include "psn/services/infer.h"

#include <fmt/format.h>

#include <memory>

#include "psn/base/error.h"
#include "psn/infer/correction.h"
#include "psn/infer/diagnostics.h"
#include "psn/infer/importance.h"
#include "psn/infer/metropolis.h"
#include "psn/nn/run/network_guide.h"
#include "psn/services/inference_network.h"
#include "psn/services/model_survey.h"
#include "psn/services/ranks.h"
#include "psn/services/unfinished_inference.h"
#include "psn/services/warnings.h"

namespace psn::services {
namespace {

std::uint64_t per_chain(const InferenceJob& job) {
  return (job.simulation.count + job.chains - 1) / job.chains;
}

std::uint64_t burn_in(const InferenceJob& job) {
  return job.burn_in.value_or(per_chain(job) * job.thinning / 10);
}

std::uint64_t traces_of(const InferenceJob& job) {
  if (!job.has_chains()) return job.simulation.count;
  return job.chains * (burn_in(job) + per_chain(job) * job.thinning);
}

void check(const InferenceJob& job, const Communicator& ranks) {
  const std::uint64_t count = job.simulation.count;
  if (job.has_chains() && job.chains > count) {
    throw InvalidArgument(fmt::format("`chains` {} is more than `count` {}", job.chains, count));
  }
  if (job.has_network() == job.network.empty()) {
    throw InvalidArgument(
        job.network.empty()
            ? "`engine` ic or network needs an inference network: `network` FILE.psn"
            : "`network` is for `engine` ic or network");
  }
  if (job.defensive > 0 && job.engine != Engine::kCompiled) {
    throw InvalidArgument("`defensive` is for `engine` ic");
  }
  if (job.correct == 0) return;
  if (job.resume) throw InvalidArgument("`resume` does not go with `correct`");
  if (!ranks.alone()) throw InvalidArgument("`correct` runs in one process, without mpirun");
  if (!job.simulation.model.ends_with(".psn") || job.surrogate.simulator.empty()) {
    throw InvalidArgument(
        "`correct` is for a surrogate, and needs the model it stands for: `simulator` MODEL");
  }
  if (job.has_chains() || job.engine == Engine::kNetwork ||
      job.surrogate.unknown != SurrogateOptions::Unknown::kRenormalise) {
    throw InvalidArgument("`correct` goes with `engine` is or ic, and `unknown` renormalise");
  }
}

bool answers_alone(const InferenceJob& job) {
  return !job.network.empty() && job.network == job.simulation.model;
}

// With an engine; and with the network, if the model is one.
InferenceJob completed(InferenceJob job) {
  const std::string& model = job.simulation.model;
  if (is_inference_network(model)) {
    if (job.engine && *job.engine != Engine::kNetwork) {
      throw InvalidArgument(fmt::format(
          "'{}' is an inference network, and alone has an answer of its own only (`engine` "
          "network): to weigh runs, give the model or its surrogate, and this as `network`",
          model));
    }
    if (!job.network.empty() && job.network != model) {
      throw InvalidArgument(
          fmt::format("'{}' and `network` '{}' are two inference networks, and there is no model",
                      model, job.network));
    }
    job.engine = Engine::kNetwork;
    job.network = model;
  }
  if (!job.engine) job.engine = Engine::kImportance;
  return job;
}

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
        draws_(job.simulation.seed, {.draws = job.draws}),
        work_(host, {.label = job.simulation.model, .total = traces_of(job), .rescue = [this] {
                       return unfinished_.save(window_, *simulator_);
                     }}) {
    configure();
    if (job.correct > 0) open_target();
    survey();
    if (job.correct == 0) {
      engine_.window = &window_;
      engine_.draws = wanted_draws();
    }
    forget_fallbacks(*simulator_);
    if (begun_) host.work_goes_on_from(begun_->traces());
  }

  InferenceResult run() {
    InferenceResult result{.model = simulator_->name(), .engine = *job_.engine};
    sample(result);
    figures_.seconds += unfinished_.seconds();
    if (job_.correct > 0) result.correction = correct(result);
    if (host_.ranks().leads()) {
      result.use = take_observation_use(result.posterior, job_.observations);
      result.summary = summarize(result.posterior, figures_);
    }
    if (!target_) result.learned = learned_tags(*simulator_, result.posterior.names());
    result.report = report_on(*simulator_, host_, unfinished_.failures());
    if (!answers_alone(job_)) {
      result.report.surrogate = surrogate_quality(job_.simulation.model);
    }
    if (wanted_draws()) {
      join(host_.ranks(), draws_);
      result.draws.emplace(std::move(draws_));
    }
    if (!host_.ranks().leads()) return result;
    for (std::string& more : warnings_of(result)) result.warnings.push_back(std::move(more));
    if (job_.save) job_.save(result);
    unfinished_.finish();
    return result;
  }

 private:
  std::vector<std::string> warnings_of(const InferenceResult& result) const {
    std::vector<std::string> warnings = posterior_warnings(result.summary);
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

  Draws* wanted_draws() { return job_.draws > 0 ? &draws_ : nullptr; }

  // What is corrected to is asked, not the surrogate.
  void open_target() {
    const SimulationOptions& s = job_.simulation;
    target_ = open_simulator(job_.surrogate.simulator, s, s.count, host_);
    std::vector<std::string> names = job_.queries;
    for (const auto& [name, value] : job_.observations.values()) names.push_back(name);
    const ModelSurvey survey(*target_, s.parallelism, s.run_options(host_, &job_.held), names);
    survey.check_densities(job_.observations);
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
    const ModelSurvey survey(*simulator_, s.parallelism, s.run_options(host_, &job_.held), names);
    survey.check(job_.observations);
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
    const Stopwatch clock;
    result.posterior = job_.has_chains() ? run_chains() : run_importance(guide);
    figures_.seconds = clock.seconds();
  } catch (const Interrupted&) {
    throw InterruptedWork(unfinished_.save(window_, *simulator_));
  }

  Posterior run_importance(const GuideFactory& guide) {
    EngineOptions own = engine_;
    const RankPart part = own_part(host_.ranks(), own.samples);
    own.first = part.first;
    own.samples = part.count;
    figures_.traces = job_.simulation.count;
    figures_.approximate = job_.engine == Engine::kNetwork;
    const auto engine = figures_.approximate ? guided_draws : importance_sampling;
    return joined(host_.ranks(), engine(*simulator_, job_.observations, own, guide));
  }

  // All chains, of which this rank runs a part.
  Posterior run_chains() {
    const RankPart part = own_part(host_.ranks(), job_.chains);
    MetropolisOptions own;
    static_cast<EngineOptions&>(own) = engine_;
    own.thinning = job_.thinning;
    own.random_walk = job_.engine == Engine::kRandomWalk;
    own.burn_in = burn_in(job_);
    own.first = part.first;
    own.chains = part.count;
    own.samples = per_chain(job_) * part.count;
    MetropolisResult result{Posterior(own.queries, 0)};
    if (part.count > 0) result = metropolis_hastings(*simulator_, job_.observations, own);
    // Chains are of equal length.
    double sums[] = {result.acceptance * static_cast<double>(part.count),
                     static_cast<double>(result.iterations)};
    host_.ranks().sum(sums);
    figures_.traces = static_cast<std::uint64_t>(sums[1]);
    figures_.acceptance = sums[0] / static_cast<double>(job_.chains);
    return joined(host_.ranks(), std::move(result.posterior));
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
    Correction corrected =
        correct_to_simulator(*target_, job_.observations, result.posterior, again);
    figures.seconds = clock.seconds();
    figures.diverged = corrected.diverged;
    figures.failures = all_failures(*target_, host_);
    result.posterior = std::move(corrected.posterior);
    figures_.effective_sample_size = corrected.effective_sample_size;
    return figures;
  }

  const InferenceJob& job_;
  Host& host_;
  const std::unique_ptr<Simulator> simulator_;
  UnfinishedInference unfinished_;
  const EngineState* const begun_;  // null: nothing was
  EngineWindow window_;
  Draws draws_;
  std::unique_ptr<Simulator> target_;  // of a correction
  std::vector<Query> target_queries_;
  EngineOptions engine_;
  EngineFigures figures_;
  const WorkScope work_;  // ends before all else goes
};

}  // namespace

InferenceResult infer(const InferenceJob& job, Host& host) {
  const InferenceJob complete = completed(job);
  check(complete, host.ranks());
  return Inference(complete, host).run();
}

}  // namespace psn::services
