#include "psn/services/kept_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "psn/base/error.h"
#include "psn/base/numerics.h"
#include "psn/base/text.h"
#include "psn/io/atomic_file.h"
#include "psn/nn/network_file.h"
#include "psn/services/host.h"
#include "psn/services/same_options.h"
#include "psn/train/checkpoint.h"

namespace psn::services {
namespace {

using Json = nlohmann::ordered_json;

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

std::string history_of(const TrainedNetwork& trained, const std::string& config) {
  Json json{{"recipe", config}, {"curve", Json::array()}};
  for (const CurvePoint& point : trained.curve) json["curve"].push_back(point_json(point));
  return json.dump();
}

// What a file has, if that was trained with this configuration.
std::optional<TrainedNetwork> trained_with(const std::string& config,
                                           std::shared_ptr<Network> network,
                                           const std::string& history) {
  const Json json = Json::parse(history, nullptr, false);
  if (!json.is_object() || !json.contains("recipe") || !json["recipe"].is_string()) {
    return std::nullopt;
  }
  if (deciding_options(json["recipe"].get<std::string>()) != deciding_options(config)) {
    return std::nullopt;
  }
  TrainedNetwork trained{std::move(network), {}};
  for (const Json& point : json.at("curve")) trained.curve.push_back(point_of(point));
  return trained;
}

// A training under way, and its files.
class KeptTraining {
 public:
  KeptTraining(const std::string& path, const TrainingPlan& plan,
               const std::function<void(const std::string&)>& status)
      : path_(path),
        plan_(plan),
        status_(status),
        config_(plan_config(plan)),
        options_(plan.recipe.training),
        trained_{std::make_shared<Network>(plan.recipe.network, options_.seed), {}} {
    if (!path.empty()) file_.emplace(path.substr(0, path.size() - 4) + ".unfinished.psn");
  }

  bool is_done() {
    if (!file_ || !std::filesystem::exists(path_)) return false;
    const NetworkFile before = load_network(path_);
    return take(trained_with(config_, before.network, before.history));
  }

  void go_on() {
    if (!file_) return;
    remove_abandoned(path_);
    file_->remove_abandoned();
    options_.checkpoint = [this](const TrainingState& state) {
      file_->save({trained_.network, state, history_of(trained_, config_), "", ""});
    };
    if (!file_->exists()) return;
    last_ = file_->load();
    if (take(trained_with(config_, last_->network, last_->history)))
      options_.resume = &last_->state;
  }

  void run() {
    const Stopwatch clock;
    if (status_)
      options_.batch_done = [&](std::uint64_t traces, double loss, double kl) {
        tell(traces, trained_.network->infers() ? loss : kl, clock.seconds());
      };
    plan_.train(*trained_.network, options_, [&](const Progress& p) {
      CurvePoint& point = trained_.curve.emplace_back(CurvePoint{p, std::nullopt});
      if (plan_.measure) point.measured = plan_.measure(*trained_.network, p);
    });
    if (options_.monitor && options_.monitor->stop.load()) throw Interrupted();
  }

  TrainedNetwork finish() {
    if (file_) {
      save_network(path_, {trained_.network, history_of(trained_, config_)});
      file_->remove();
    }
    return std::move(trained_);
  }
  TrainedNetwork result() { return std::move(trained_); }

 private:
  bool take(std::optional<TrainedNetwork> found) {
    if (!found) return false;
    trained_ = *std::move(found);
    return true;
  }

  void tell(std::uint64_t traces, double figure, double seconds) const {
    const std::uint64_t before = options_.resume ? options_.resume->traces : 0;
    const double rate = static_cast<double>(traces - before) / std::max(1e-9, seconds);
    const char* what = trained_.network->infers() ? "loss" : "KL";
    status_(fmt::format(
        "training {}: {}", std::filesystem::path(path_).stem().string(),
        progress_text(traces, options_.traces, rate, fmt::format("{} {:.4f}", what, figure))));
  }

  const std::string path_;
  const TrainingPlan& plan_;
  const std::function<void(const std::string&)>& status_;
  const std::string config_;
  TrainOptions options_;
  std::optional<CheckpointFile> file_;  // none: nothing is kept
  std::optional<Checkpoint> last_;
  TrainedNetwork trained_;
};

}  // namespace

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

TrainedNetwork train_or_load(const std::string& path, const TrainingPlan& plan,
                             const std::function<void(const std::string&)>& status) {
  KeptTraining training(path, plan, status);
  if (training.is_done()) return training.result();
  training.go_on();
  training.run();
  return training.finish();
}

}  // namespace psn::services
