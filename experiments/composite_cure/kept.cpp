#include "experiments/composite_cure/kept.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "psn/base/error.h"
#include "psn/data/store_source.h"
#include "psn/nn/network_file.h"
#include "psn/train/checkpoint.h"

namespace psn::composite_cure {
namespace {

using Json = nlohmann::ordered_json;

// All that decides what a training gives.
Json recipe_json(const Preset& recipe, std::uint64_t stored) {
  const TrainOptions& t = recipe.training;
  return {{"network", Json::parse(config_json(recipe.network))},
          {"stored", stored},
          {"traces", t.traces},
          {"batch_size", t.batch_size},
          {"learning_rate", t.rate.learning_rate},
          {"cosine", t.rate.schedule == Schedule::kCosine},
          {"divergence", t.loss == Loss::kDivergence},
          {"seed", t.seed}};
}

Json history_json(const Json& recipe, const Trained& trained) {
  Json json{{"recipe", recipe}, {"seconds", trained.seconds}, {"curve", Json::array()}};
  for (const CurvePoint& p : trained.curve) {
    json["curve"].push_back({p.traces, p.loss, p.validation});
  }
  return json;
}

// What a file has, if that was trained by this recipe.
std::optional<Trained> trained_by(const Json& recipe, std::shared_ptr<Network> network,
                                  const std::string& history) {
  const Json json = Json::parse(history, nullptr, false);
  if (!json.is_object() || json.value("recipe", Json()) != recipe) return std::nullopt;
  Trained trained{std::move(network), {}, json.at("seconds").get<double>()};
  for (const Json& point : json.at("curve")) {
    trained.curve.push_back({point[0], point[1], point[2]});
  }
  return trained;
}

}  // namespace

Kept::Kept(const ExperimentRequest& request) : request_(request) {
  std::error_code error;
  std::filesystem::create_directories(request.directory, error);
  if (error) {
    throw DataError(fmt::format("cannot create '{}': {}", request.directory, error.message()));
  }
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

void train_on_store(Trained& trained, const TrainOptions& options, data::StoreReader& store,
                    std::uint64_t stored, const std::vector<Trace>& held_out,
                    const ProgressSink& progress) {
  data::StoreSource source(store, {.seed = options.seed,
                                   .count = options.traces,
                                   .first = options.resume ? options.resume->traces : 0,
                                   .traces = stored});
  const Progress end =
      train_network(source, held_out, *trained.network, options, [&](const Progress& p) {
        const bool infers = trained.network->infers();
        if (p.validation) {
          trained.curve.push_back(
              {p.traces, infers ? p.loss : p.kl, infers ? p.validation->loss : p.validation->kl});
        }
        if (progress) progress(p);
      });
  trained.seconds = end.seconds;
}

Trained Kept::network(const std::string& name, const Preset& recipe, data::StoreReader& store,
                      std::uint64_t stored, const std::vector<Trace>& held_out) const {
  const std::string file = path(name + ".psn");
  const Json wanted = recipe_json(recipe, stored);
  if (std::filesystem::exists(file)) {
    const NetworkFile before = load_network(file);
    if (auto trained = trained_by(wanted, before.network, before.history)) return *trained;
  }
  TrainOptions options = recipe.training;
  Trained trained{std::make_shared<Network>(recipe.network, options.seed), {}, 0};
  CheckpointFile checkpoint(path(name + ".unfinished.psn"));
  std::optional<Checkpoint> last;
  if (checkpoint.exists()) {
    last = checkpoint.load();
    if (auto begun = trained_by(wanted, last->network, last->history)) {
      trained = *std::move(begun);
      options.resume = &last->state;
    }
  }
  options.checkpoint = [&](const TrainingState& state) {
    checkpoint.save({trained.network, state, history_json(wanted, trained).dump(), "", ""});
  };
  train_on_store(trained, options, store, stored, held_out, [&](const Progress& p) {
    say(fmt::format("training {}: {} of {} traces, {:.0f} traces/s", name, p.traces, options.traces,
                    p.traces_per_second));
  });
  stop_if_asked();
  save_network(file, {trained.network, history_json(wanted, trained).dump()});
  checkpoint.remove();
  return trained;
}

}  // namespace psn::composite_cure
