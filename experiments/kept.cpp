#include "experiments/kept.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "psn/base/atomic_file.h"
#include "psn/base/error.h"
#include "psn/base/numerics.h"
#include "psn/base/text.h"
#include "psn/nn/network_file.h"
#include "psn/train/checkpoint.h"

namespace psn {
namespace {

using Json = nlohmann::ordered_json;

// All that decides what a training gives.
Json recipe_json(const TrainingPlan& plan) {
  const TrainOptions& t = plan.recipe.training;
  return {{"network", Json::parse(config_json(plan.recipe.network))},
          {"data", plan.data},
          {"traces", t.traces},
          {"batch_size", t.batch_size},
          {"learning_rate", t.rate.learning_rate},
          {"cosine", t.rate.schedule == Schedule::kCosine},
          {"divergence", t.loss == Loss::kDivergence},
          {"progress_every", t.progress_every},
          {"validation_traces", t.validation_traces},
          {"seed", t.seed}};
}

// JSON has no word for infinity.
double number(const Json& json) {
  return json.is_null() ? kInfinity : json.get<double>();
}

Json point_json(const CurvePoint& point) {
  const Progress& p = point.progress;
  Json json{{"traces", p.traces},
            {"batches", p.batches},
            {"loss", p.loss},
            {"kl", p.kl},
            {"rate", p.rate},
            {"addresses", p.addresses},
            {"transitions", p.transitions},
            {"seconds", p.seconds},
            {"traces_per_second", p.traces_per_second}};
  if (const auto& v = p.validation) {
    json["validation"] = {v->traces, v->unseen, v->loss, v->kl, v->standard_error};
  }
  if (point.measured) json["measured"] = *point.measured;
  return json;
}

CurvePoint point_of(const Json& json) {
  CurvePoint point;
  Progress& p = point.progress;
  p.traces = json.at("traces");
  p.batches = json.at("batches");
  p.loss = number(json.at("loss"));
  p.kl = number(json.at("kl"));
  p.rate = json.at("rate");
  p.addresses = json.at("addresses");
  p.transitions = json.at("transitions");
  p.seconds = json.at("seconds");
  p.traces_per_second = json.at("traces_per_second");
  if (json.contains("validation")) {
    const Json& v = json.at("validation");
    p.validation = Validation{v.at(0), v.at(1), number(v.at(2)), number(v.at(3)), number(v.at(4))};
  }
  if (json.contains("measured")) point.measured = number(json.at("measured"));
  return point;
}

std::string history(const Json& recipe, const Trained& trained) {
  Json json{{"recipe", recipe}, {"curve", Json::array()}};
  for (const CurvePoint& point : trained.curve) json["curve"].push_back(point_json(point));
  return json.dump();
}

// What a file has, if that was trained by this recipe.
std::optional<Trained> trained_by(const Json& recipe, std::shared_ptr<Network> network,
                                  const std::string& history) {
  const Json json = Json::parse(history, nullptr, false);
  if (!json.is_object() || json.value("recipe", Json()) != recipe) return std::nullopt;
  Trained trained{std::move(network), {}};
  for (const Json& point : json.at("curve")) trained.curve.push_back(point_of(point));
  return trained;
}

}  // namespace

Kept::Kept(const ExperimentRequest& request) : request_(request) {
  if (request.directory.empty()) return;
  std::error_code error;
  std::filesystem::create_directories(request.directory, error);
  if (error) {
    throw DataError(fmt::format("cannot create '{}': {}", request.directory, error.message()));
  }
  lock_.emplace(path("experiment"));
}

void Kept::stop_if_asked() const {
  if (request_.monitor && request_.monitor->stop.load()) throw Interrupted();
}

std::unique_ptr<data::StoreReader> Kept::store(const std::string& name, Simulator& simulator,
                                               std::uint64_t traces) const {
  {
    data::StoreWriter writer(path(name), {{simulator.name(), request_.seed}},
                             simulator.addresses());
    TrainOptions training;
    training.seed = request_.seed;
    training.traces = traces;
    training.simulation = {8, 0};
    StreamOptions from_here = training_stream(training);
    from_here.first = writer.size();
    from_here.monitor = request_.monitor;
    if (writer.size() < traces) {
      TraceStream stream(simulator, from_here);
      std::vector<Trace> chunk;
      while (writer.size() < traces) {
        stop_if_asked();
        stream.take(std::min<std::uint64_t>(64, traces - writer.size()), chunk);
        for (const Trace& trace : chunk) writer.append(trace);
        writer.commit();
        say(fmt::format("simulating: {} of {} traces of {}", writer.size(), traces,
                        simulator.name()));
      }
    }
  }
  return std::make_unique<data::StoreReader>(path(name));
}

// A training under way, and its files.
struct Kept::Course {
  Course(const Kept& of, const std::string& its_name, const TrainingPlan& its_plan)
      : kept(of),
        name(its_name),
        plan(its_plan),
        recipe(recipe_json(plan)),
        options(plan.recipe.training),
        file(kept.path(name + ".psn")),
        checkpoint(kept.path(name + ".unfinished.psn")),
        trained{std::make_shared<Network>(plan.recipe.network, options.seed), {}} {}

  bool keeps() const { return kept.lock_.has_value(); }

  bool is_done() {
    if (!keeps() || !std::filesystem::exists(file)) return false;
    const NetworkFile before = load_network(file);
    auto done = trained_by(recipe, before.network, before.history);
    if (done) trained = *std::move(done);
    return done.has_value();
  }

  void go_on() {
    if (!keeps()) return;
    remove_abandoned(file);
    checkpoint.remove_abandoned();
    options.checkpoint = [this](const TrainingState& state) {
      checkpoint.save({trained.network, state, history(recipe, trained), "", ""});
    };
    if (!checkpoint.exists()) return;
    last = checkpoint.load();
    auto begun = trained_by(recipe, last->network, last->history);
    if (!begun) return;
    trained = *std::move(begun);
    options.resume = &last->state;
  }

  void run() {
    const auto start = std::chrono::steady_clock::now();
    const std::uint64_t before = options.resume ? options.resume->traces : 0;
    options.batch_done = [&, start, before](std::uint64_t traces, double loss, double kl) {
      const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
      const bool infers = trained.network->infers();
      kept.say(fmt::format(
          "training {}: {}", name,
          progress_text(traces, options.traces,
                        static_cast<double>(traces - before) / std::max(1e-9, passed.count()),
                        fmt::format("{} {:.4f}", infers ? "loss" : "KL", infers ? loss : kl))));
    };
    plan.train(*trained.network, options, [&](const Progress& p) {
      CurvePoint& point = trained.curve.emplace_back(CurvePoint{p, std::nullopt});
      if (plan.measure) point.measured = plan.measure(*trained.network, p);
    });
    kept.stop_if_asked();
  }

  void finish() {
    if (!keeps()) return;
    save_network(file, {trained.network, history(recipe, trained)});
    checkpoint.remove();
  }

  const Kept& kept;
  const std::string name;
  const TrainingPlan& plan;
  const Json recipe;
  TrainOptions options;
  const std::string file;
  CheckpointFile checkpoint;
  std::optional<Checkpoint> last;
  Trained trained;
};

Trained Kept::network(const std::string& name, const TrainingPlan& plan) const {
  Course course(*this, name, plan);
  if (course.is_done()) return course.trained;
  course.go_on();
  course.run();
  course.finish();
  return course.trained;
}

TrainingPlan online_plan(Simulator& simulator, Preset recipe) {
  return {.recipe = std::move(recipe),
          .data = "online",
          .train =
              [&simulator](Network& network, const TrainOptions& options,
                           const ProgressSink& progress) {
                return train_online(simulator, network, options, progress);
              },
          .measure = {}};
}

}  // namespace psn
