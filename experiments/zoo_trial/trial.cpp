#include "experiments/zoo_trial/trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "experiments/zoo_trial/trial_json.h"
#include "psn/base/error.h"
#include "psn/core/in_process.h"
#include "psn/evidence/classifier.h"
#include "psn/infer/importance.h"
#include "psn/io/atomic_file.h"
#include "psn/services/budget.h"
#include "psn/services/generate.h"
#include "psn/services/infer.h"
#include "psn/services/kept_network.h"
#include "psn/services/train.h"

namespace psn::zoo {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kFewEffective = 100;  // samples: fewer stand for no distribution

// Of the seed.
enum class Use : std::uint64_t { kLook = 1, kDraws, kResampling, kClassifier };
std::uint64_t seed_of(Use use, std::uint64_t seed) {
  return seed + (static_cast<std::uint64_t>(use) << 48);
}

class OneTrial {
 public:
  OneTrial(const Program& program, const TrialRequest& request, services::Host& host)
      : program_(program), request_(request), host_(host), state_(kept_state()) {
    trial_.program = program.model.name;
  }

  Trial run() {
    if (state_.contains("trial")) return trial_of(state_["trial"]);
    train(Purpose::kSurrogate, "surrogate");
    train(Purpose::kInference, "inference");
    look();
    infer();
    state_["trial"] = trial_json(trial_);
    keep();
    return trial_;
  }

 private:
  std::string path(const std::string& what) const {
    return fmt::format("{}/{}-{}", request_.directory, program_.model.name, what);
  }
  std::string state_path() const { return path("trial.json"); }

  // What was done before, with the same request.
  Json kept_state() const {
    const Json asked{{"budget", request_.runs > 0 ? 0 : request_.budget},
                     {"runs", request_.runs},
                     {"samples", request_.samples},
                     {"seed", request_.seed}};
    std::ifstream file(state_path());
    Json kept = Json::parse(file, nullptr, false);
    if (kept.is_object() && kept.contains("asked") && kept["asked"] == asked) return kept;
    return {{"asked", asked}};
  }

  void keep() const { write_file_atomically(state_path(), state_.dump(2) + "\n"); }

  void say(const std::string& what) const {
    if (request_.status) request_.status(program_.model.name + ": " + what);
  }

  void warn(const std::string& where, const std::vector<std::string>& warnings) {
    for (const std::string& warning : warnings) trial_.warnings.push_back(where + ": " + warning);
  }

  // As psn train does without options, but for the budget.
  services::TrainingJob job(Purpose purpose, const std::string& what) const {
    services::TrainingJob job;
    job.recipe = preset("default", purpose);
    job.recipe.network.tags = purpose == Purpose::kSurrogate;
    job.recipe.training.seed = request_.seed;
    job.model = program_.model.name;
    job.out = path(what + ".psn");
    job.resume = true;
    return job;
  }

  void spend_budget(services::TrainingJob& job, Json& step) const {
    if (!step.contains("runs")) {
      const auto amount = services::amount_within(job, request_.budget / 2, host_);
      step = {{"traces", amount.traces},
              {"held_out", amount.validation},
              {"runs", amount.traces + amount.validation}};
      keep();
    }
    TrainOptions& training = job.recipe.training;
    training.traces = step["traces"];
    training.validation_traces = step["held_out"];
    training.batch_size = default_batch_size(training.traces, job.recipe.network.purpose);
  }

  void learn_from_store(services::TrainingJob& job) const {
    services::GenerationJob generation;
    generation.simulation.model = job.model;
    generation.simulation.count = request_.runs;
    generation.simulation.seed = request_.seed;
    generation.store = path("runs");
    if (!services::generate(generation, host_).left.empty()) throw Interrupted();
    job.data.store = generation.store;
    job.model.clear();
    plan_for_stored(job.recipe.training, request_.runs);
    job.recipe.training.validation_traces = 5000;  // if so many are held out
  }

  void train(Purpose purpose, const std::string& what) {
    Json& step = state_[what];
    if (!step.contains("loss")) {
      say("training, " + what);
      services::TrainingJob job = this->job(purpose, what);
      request_.runs > 0 ? learn_from_store(job) : spend_budget(job, step);
      job.config = services::plan_config({.recipe = job.recipe, .data = program_.model.name});
      std::filesystem::remove(job.out);  // of another request
      const services::TrainingResult result = services::train(job, host_);
      step["loss"] = result.last.validation->loss;
      step["kl"] = result.last.validation->kl;
      step["seconds"] = result.last.seconds;
      step["warnings"] = result.warnings;
      keep();
    }
    trial_.runs =
        request_.runs > 0 ? request_.runs : trial_.runs + step["runs"].get<std::uint64_t>();
    trial_.seconds += step["seconds"].get<double>();
    if (purpose == Purpose::kSurrogate)
      trial_.kl = step["kl"].is_null() ? kInfinity : step["kl"].get<double>();
    warn(what, step["warnings"].get<std::vector<std::string>>());
  }

  void look() {
    InProcess simulator(program_.model);
    constexpr std::uint64_t kRuns = 500;
    std::vector<std::size_t> lengths(kRuns);
    run_traces(simulator, kRuns, prior_guide(),
               [&](std::uint64_t i, Trace& trace) { lengths[i] = trace.length(); },
               {.seed = seed_of(Use::kLook, request_.seed), .monitor = &host_.monitor()}, {});
    double sum = 0;
    for (const std::size_t length : lengths) sum += static_cast<double>(length);
    trial_.length = sum / kRuns;
  }

  services::InferenceResult posterior(const std::string& model, services::Engine engine,
                                      std::uint64_t samples) {
    services::InferenceJob job;
    job.simulation.model = model;
    job.simulation.count = samples;
    job.simulation.seed = request_.seed;
    job.engine = engine;
    job.network = path("inference.psn");
    job.observations = program_.observed;
    for (const Query& query : program_.judged) job.queries.push_back(query.name);
    return services::infer(job, host_);
  }

  Trial::Inferred judged(const services::InferenceResult& result, const Answer& answer) const {
    Trial::Inferred inferred{.ess = result.summary.ess / static_cast<double>(request_.samples)};
    std::size_t k = 0;
    for (const Query& query : program_.judged) {
      for (std::size_t i = 0; i < element_count(query.shape); ++i, ++k) {
        const double off = result.posterior.mean(query.name, i) - answer.mean[k];
        inferred.error = std::max(inferred.error, std::abs(off) / answer.sd[k]);
      }
    }
    return inferred;
  }

  // An inference that ends in an error is one without a sample, and the error its warning.
  Trial::Inferred compiled(const std::string& where, const std::string& model) {
    try {
      const auto result = posterior(model, services::Engine::kCompiled, request_.samples);
      warn(where, result.warnings);
      return judged(result, program_.answer());
    } catch (const ModelError& error) {
      warn(where, {error.what()});
      return {.error = kInfinity, .ess = 0};
    }
  }

  void infer() {
    say("inference");
    trial_.simulator = compiled("simulator", program_.model.name);
    trial_.surrogate = compiled("surrogate", path("surrogate.psn"));
    if (!program_.draw || trial_.simulator.ess == 0) return;
    const std::size_t rows = request_.samples;
    const std::vector<double> exact = program_.draw(rows, seed_of(Use::kDraws, request_.seed));
    say("telling the network's draws from the answer's");
    const auto network = posterior(program_.model.name, services::Engine::kNetwork, rows);
    trial_.c2st_network = accuracy(exact, network.posterior);
    if (trial_.simulator.ess * static_cast<double>(rows) < kFewEffective) return;
    say("telling the weighted draws from the answer's");
    // Of many, so that few come twice: a classifier would see those.
    constexpr std::uint64_t kMany = 10;
    const auto many = posterior(program_.model.name, services::Engine::kCompiled, kMany * rows);
    Rng rng(seed_of(Use::kResampling, request_.seed));
    trial_.c2st_weighted = accuracy(exact, many.posterior.resample(rows, rng));
  }

  double accuracy(const std::vector<double>& exact, const Posterior& posterior) const {
    const std::size_t columns = program_.components();
    std::vector<double> rows(posterior.size() * columns);
    std::size_t at = 0;
    for (const Query& query : program_.judged) {
      const Column& column = posterior.column(query.name);
      for (std::size_t i = 0; i < posterior.size(); ++i) {
        for (std::size_t k = 0; k < column.width(); ++k) {
          rows[i * columns + at + k] = column.data[i * column.width() + k];
        }
      }
      at += column.width();
    }
    return evidence::classifier_accuracy(
        exact, rows, columns,
        {.seed = seed_of(Use::kClassifier, request_.seed), .stop = &host_.monitor().stop});
  }

  const Program& program_;
  const TrialRequest& request_;
  services::Host& host_;
  Json state_;
  Trial trial_;
};

}  // namespace

bool Trial::deserves_warning() const {
  constexpr double kFarOff = 0.25, kFewEffectiveShare = 0.01;
  const auto bad = [](const Inferred& inferred) {
    return !(inferred.error <= kFarOff) || !(inferred.ess >= kFewEffectiveShare);
  };
  return bad(simulator) || bad(surrogate);
}

Trial run_trial(const Program& program, const TrialRequest& request, services::Host& host) {
  return OneTrial(program, request, host).run();
}

}  // namespace psn::zoo
