#include "psn/services/train.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "psn/infer/importance.h"
#include "psn/io/atomic_file.h"
#include "psn/nn/network_file.h"
#include "psn/services/course_json.h"
#include "psn/services/model_survey.h"
#include "psn/services/observation_lists.h"
#include "psn/services/ranks.h"
#include "psn/services/training_history.h"
#include "psn/services/training_store.h"
#include "psn/services/unfinished_training.h"
#include "psn/services/warnings.h"
#include "psn/train/trainer.h"
#include "psn/train/training_log.h"

namespace psn::services {
namespace {

using Json = nlohmann::ordered_json;

// Where the file will go must be there, before hours of work.
void check_place(const std::string& out) {
  if (!out.ends_with(".psn")) {
    throw InvalidArgument(fmt::format("`out` '{}': a network's file ends in .psn", out));
  }
  const auto folder = std::filesystem::absolute(out).parent_path();
  if (!std::filesystem::is_directory(folder)) {
    throw DataError(fmt::format("`out` '{}': there is no such folder", out));
  }
  if (::access(folder.c_str(), W_OK | X_OK) != 0) {
    throw DataError(fmt::format("`out` '{}': the folder cannot be written to", out));
  }
}

void check(const TrainingJob& job) {
  check_place(job.out);
  if (job.model.empty() == job.data.store.empty()) {
    throw InvalidArgument("train on a model or on `data`, one of both");
  }
  const auto& [network, training] = job.recipe;
  if (network.purpose == Purpose::kInference && (network.tags || network.tally)) {
    throw InvalidArgument(fmt::format("`{}` is for surrogates", network.tags ? "tags" : "tally"));
  }
  if (network.purpose == Purpose::kSurrogate &&
      (training.missing > 0 || !network.observe_embedding.empty())) {
    throw InvalidArgument(fmt::format("{} is for inference networks",
                                      training.missing > 0 ? "`missing`" : "`observe_embedding`"));
  }
}

// Layers for a variable that the model does not have would go unnoticed.
void check_layer_names(const NetworkConfig& network, Simulator& simulator, Host& host) {
  std::vector<std::string> names;
  for (const auto& [name, layers] : network.variable_embedding) names.push_back(name);
  for (const auto& [name, layers] : network.observe_embedding) names.push_back(name);
  if (names.empty()) return;
  const ModelSurvey survey(
      simulator, {}, {.max_length = TrainOptions().max_length, .monitor = &host.monitor()}, names);
  for (const auto& [name, layers] : network.variable_embedding) {
    survey.require(name, "`variable_embedding`");
  }
  for (const auto& [name, layers] : network.observe_embedding) {
    survey.require(name, "`observe_embedding`", true);
  }
}

// One training, from its job to its files.
class Training {
 public:
  // Loads and checks everything.
  Training(TrainingJob job, Host& host)
      : job_(std::move(job)),
        options_(job_.recipe.training),
        host_(host),
        network_(job_.from),
        unfinished_(job_.out, job_.config, host.ranks()),
        begun_(unfinished_.open(job_.resume)),
        work_(host, {.label = job_.model.empty() ? job_.data.store : job_.model,
                     .total = options_.traces,
                     .rescue = [this] { return unfinished_.hint(); }}) {
    options_.monitor = &host.monitor();
    options_.ranks = &host.ranks();
    options_.batch_done = [this](std::uint64_t traces, double loss, double kl) {
      host_.monitor().traces.store(traces);
      host_.note(network_->infers() ? fmt::format("loss {:.4f}", loss)
                                    : fmt::format("KL {:.4f}", kl));
    };
    open_source();
    if (begun_) go_on();
    if (!network_ && job_.recipe.network.purpose == Purpose::kInference) {
      share_lists(job_.recipe.network, some_traces());
    }
    if (!network_) network_ = std::make_shared<Network>(job_.recipe.network, options_.seed);
    if (!host.ranks().leads()) return;
    options_.checkpoint = [this](const TrainingState& state) {
      unfinished_.save(network_, state, history_.dump(), store_ ? store_->place(state.traces) : "");
    };
    if (job_.log.empty()) return;
    log_ =
        std::make_unique<TrainingLog>(job_.log, network_->infers(), job_.resume, options_.resume);
    log_->note(options_.traces);
  }

  // Says with each error what is left.
  Progress run() {
    try {
      Progress last = learn();
      if (last.finished) return last;
      wait_for_leader();
      if (host_.monitor().stop.load()) throw Interrupted();
      return last;
    } catch (const TrainingFailed& error) {
      if (host_.ranks().leads()) unfinished_.save_failed(network_, history_.dump());
      wait_for_leader();
      throw ModelError(error.what() + unfinished_.hint());
    } catch (const ModelError& error) {
      wait_for_leader();
      throw ModelError(error.what() + unfinished_.hint());
    } catch (const ProtocolError& error) {
      throw ProtocolError(error.what() + unfinished_.hint());
    } catch (const DataError& error) {
      throw DataError(error.what() + unfinished_.hint());
    } catch (const Interrupted&) {
      throw InterruptedWork(unfinished_.hint());
    }
  }

  TrainingResult conclude(const Progress& last) {
    TrainingResult result{.last = last, .infers = network_->infers(), .traces = options_.traces};
    result.warnings = training_warnings(last, result.infers);
    result.verdict = training_verdict(course_, last, result.infers);
    if (simulator_) result.failures = joined(host_.ranks(), simulator_->failures());
    if (!host_.ranks().leads()) return result;
    if (last.finished) {
      if (last.validation && last.validation->course) {
        history_.back()["course"] = course_json(*last.validation->course);
      }
      save_network(job_.out, {network_, history_.dump()});
      write_file_atomically(job_.out + ".toml", job_.config);
      unfinished_.finish();
    } else {
      result.left = unfinished_.hint();
    }
    if (log_) log_->note(options_.traces, last.finished ? "finished" : "stopped");
    return result;
  }

 private:
  // A store or a simulator; either must have the variables that a new network is told of.
  void open_source() {
    const bool is_new = !network_ && !begun_;
    if (job_.model.empty()) {
      store_ = std::make_unique<TrainingStore>(job_.data, begun_ ? begun_->source : "");
      store_->configure(options_);
      if (is_new) store_->check_variable_names(job_.recipe.network);
    } else {
      simulator_ = open_simulator(job_.model, job_.simulator, options_.traces, host_);
      if (is_new) check_layer_names(job_.recipe.network, *simulator_, host_);
    }
  }

  // To see what the model observes.
  std::vector<Trace> some_traces() {
    constexpr std::uint64_t kSome = 20;
    if (store_) return store_->some_traces(kSome);
    std::vector<Trace> traces(kSome);
    run_traces(*simulator_, kSome, prior_guide(),
               [&](std::uint64_t i, Trace& trace) { std::swap(traces[i], trace); },
               {.seed = seed_for(DrawsFor::kSurvey, 0),
                .max_length = options_.max_length,
                .monitor = &host_.monitor(),
                .failed = [](std::uint64_t) {}},
               {1, 1});
    std::erase_if(traces, [](const Trace& trace) { return trace.entries.empty(); });
    simulator_->forget_failures();
    host_.monitor().traces.store(0);
    return traces;
  }

  void go_on() {
    network_ = begun_->network;
    options_.resume = &begun_->state;
    host_.work_goes_on_from(begun_->state.traces);
    history_ = Json::parse(begun_->history);
  }

  Progress learn() {
    const auto progress = [this](const Progress& p) { report(p); };
    return store_ ? store_->train(*network_, options_, progress)
                  : train_online(*simulator_, *network_, options_, progress);
  }

  void report(const Progress& p) {
    if (log_) log_->add(p);
    course_.push_back(p);
    history_.push_back(progress_json(p, network_->infers()));
  }

  // The end of one rank ends the others: none ends before the first has written what is left.
  void wait_for_leader() {
    if (network_->parameters().step == 0) return;  // nothing is, and not all may know that it ended
    std::string written;
    host_.ranks().broadcast(written);
  }

  TrainingJob job_;
  TrainOptions& options_;
  Host& host_;
  std::shared_ptr<Network> network_;
  UnfinishedTraining unfinished_;
  const std::optional<Checkpoint> begun_;
  std::unique_ptr<Simulator> simulator_;
  std::unique_ptr<TrainingStore> store_;
  std::unique_ptr<TrainingLog> log_;
  Json history_ = Json::array();
  std::vector<Progress> course_;  // the reports of this run, without those before a resume
  const WorkScope work_;          // ends before all else goes
};

}  // namespace

TrainingResult train(TrainingJob job, Host& host) {
  check(job);
  Training training(std::move(job), host);
  return training.conclude(training.run());
}

std::shared_ptr<Network> load_trained(const std::string& path, Purpose purpose) {
  if (path.empty()) return nullptr;
  auto network = load_network(path).network;
  if (network->config().purpose != purpose) {
    throw InvalidArgument(fmt::format("`from` '{}' is {}", path,
                                      network->infers() ? "an inference network" : "a surrogate"));
  }
  return network;
}

}  // namespace psn::services
