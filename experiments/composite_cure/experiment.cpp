#include "experiments/composite_cure/experiment.h"

#include <fmt/format.h>

#include <filesystem>
#include <future>
#include <optional>

#include "experiments/composite_cure/composite_cure.h"
#include "experiments/composite_cure/results.h"
#include "psn/base/error.h"
#include "psn/core/in_process.h"
#include "psn/data/store_source.h"
#include "psn/infer/importance.h"
#include "psn/nn/run/network_guide.h"
#include "psn/nn/run/surrogate.h"
#include "psn/services/host.h"

namespace psn::composite_cure {
namespace {

// Of the seed.
enum class Use : std::uint64_t { kPrior = 1, kProposals, kSpeed };

template <class Work>
double seconds_of(Work work) {
  const services::Stopwatch clock;
  work();
  return clock.seconds();
}

// A simulation is long, and a network's step is for many at once.
constexpr Parallelism kSimulations{8, 0}, kNetworkSteps{512, 0};

// On the first `stored` traces of a store.
Progress train_on_store(Network& network, const TrainOptions& options, data::StoreReader& store,
                        std::uint64_t stored, const std::vector<Trace>& held_out,
                        const ProgressSink& progress) {
  data::StoreSource source(store, {.seed = options.seed,
                                   .count = options.traces,
                                   .first = options.resume ? options.resume->traces : 0,
                                   .traces = stored});
  return train_network(source, held_out, network, options, progress);
}

class Experiment {
 public:
  Experiment(const ExperimentRequest& request, const Plan& plan)
      : request_(request), plan_(plan), folder_(request) {}

  Results run() {
    Results results;
    const auto store = folder_.store("traces", slab_, plan_.stored);
    const auto held_out = data::held_out_traces(*store, plan_.compared);
    const std::vector<Trace> validation(
        held_out.begin(), held_out.begin() + static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(
                                                 plan_.validation, held_out.size())));
    // On two cores.
    data::StoreReader second(*store);
    const auto from = [&](data::StoreReader& reader, const Preset& recipe) {
      return TrainingPlan{
          .recipe = recipe,
          .data = fmt::format("{} stored traces", plan_.stored),
          .train =
              [&](Network& network, const TrainOptions& options, const ProgressSink& sink) {
                return train_on_store(network, options, reader, plan_.stored, validation, sink);
              },
          .measure = {}};
    };
    auto others = std::async(std::launch::async, [&] {
      results.inference = folder_.network("inference", from(second, plan_.inference));
      results.smallest = folder_.network("smallest", from(second, plan_.smallest));
    });
    results.surrogate = folder_.network("surrogate", from(*store, plan_.surrogate));
    others.get();
    const auto error = [&](const TrainedNetwork& trained) {
      return field_error(std::make_shared<const CompiledNetwork>(trained.network), held_out);
    };
    results.field = error(results.surrogate);
    results.field_smallest = error(results.smallest);
    surrogate_.emplace("surrogate", results.surrogate.network);
    smallest_.emplace("smallest surrogate", results.smallest.network);
    proposals_ = std::make_shared<const CompiledNetwork>(results.inference.network);
    for (const ObservedCase& observed : kCases) results.cases.push_back(infer(observed));
    results.speeds = measure_speeds(held_out);
    tune(results);
    return results;
  }

 private:
  EngineOptions engine_options(Use use, std::uint64_t samples, const Parallelism& parallelism) {
    EngineOptions options;
    options.samples = samples;
    options.queries = {
        {.name = "mu_w", .compute = [](const Trace& t) { return hottest(t["latent_temps"]); }},
        {.name = "config", .shape = {4}}};
    options.seed = experiment_seed(use, request_.seed);
    options.parallelism = parallelism;
    options.monitor = request_.monitor;
    return options;
  }

  Inferred importance(Simulator& simulator, const Observations& data, const EngineOptions& options,
                      const GuideFactory& guide) {
    std::optional<Posterior> posterior;
    const double seconds =
        seconds_of([&] { posterior = importance_sampling(simulator, data, options, guide); });
    return {*std::move(posterior), static_cast<double>(options.samples) / seconds};
  }

  CaseResults infer(const ObservedCase& observed) {
    const Observations data = observed_part(observed.shift);
    Inferred judge = judged(observed, data);
    folder_.say(fmt::format("inference compilation: {}", observed.name));
    return {std::move(judge), compiled(slab_, data, plan_.samples, kSimulations),
            compiled(*surrogate_, data, plan_.samples, kNetworkSteps),
            compiled(*smallest_, data, plan_.samples, kNetworkSteps)};
  }

  Inferred compiled(Simulator& simulator, const Observations& data, std::uint64_t samples,
                    const Parallelism& parallelism) {
    return importance(simulator, data, engine_options(Use::kProposals, samples, parallelism),
                      network_guide(proposals_, simulator, data));
  }

  // By the prior proposal, with many traces.
  Inferred judged(const ObservedCase& observed, const Observations& data) {
    const std::string file = folder_.path(
        fmt::format("prior_{}_{}_{}.posterior", observed.name, plan_.prior, request_.seed));
    if (std::filesystem::exists(file)) return {Posterior::load(file), 0};
    folder_.say(fmt::format("prior proposal: {}, {} traces", observed.name, plan_.prior));
    Inferred result = importance(
        slab_, data, engine_options(Use::kPrior, plan_.prior, kSimulations), prior_guide());
    result.posterior.save(file);
    return result;
  }

  double traces_per_second(Simulator& simulator, std::uint64_t count,
                           const Parallelism& parallelism) {
    const double seconds = seconds_of([&] {
      run_traces(
          simulator, count, prior_guide(), [](std::uint64_t, Trace&) {},
          {.seed = experiment_seed(Use::kSpeed, request_.seed), .monitor = request_.monitor},
          parallelism);
    });
    return static_cast<double>(count) / seconds;
  }

  Speeds measure_speeds(const std::vector<Trace>& traces) {
    folder_.say("measuring speeds");
    Speeds speeds;
    speeds.simulator_1d = traces_per_second(slab_, 1'000, kSimulations);
    speeds.simulator_2d = traces_per_second(section_, 32, kSimulations);
    speeds.ic_simulator_2d =
        compiled(section_, observed_part(0), 32, kSimulations).traces_per_second;
    speeds.surrogate = traces_per_second(*surrogate_, 20'000, kNetworkSteps);
    speeds.surrogate_smallest = traces_per_second(*smallest_, 20'000, kNetworkSteps);
    // A network of the paper's size is as fast before training as after; it need only have grown.
    ExperimentRequest paper;
    paper.preset = "paper";
    auto grown = std::make_shared<Network>(plan(paper).surrogate.network, request_.seed);
    Growth(*grown).absorb({traces.begin(), traces.begin() + 1});
    SurrogateSimulator large("surrogate of the paper's size", grown);
    speeds.surrogate_paper_size = traces_per_second(large, 4'000, kNetworkSteps);
    return speeds;
  }

  // The 1D surrogate goes on learning from few traces of the cross-section; beside it, a network
  // that begins with those.
  void tune(Results& results) {
    const std::uint64_t most = plan_.tuned_on.back();
    const std::uint64_t in_store = most * 20 / 19 + 20;  // with those held out
    const auto store = folder_.store("traces-2d", section_, in_store);
    const auto held_out = data::held_out_traces(*store, most);
    const auto error = [&](std::shared_ptr<const Network> network) {
      return field_error(std::make_shared<const CompiledNetwork>(std::move(network)), held_out).rms;
    };
    results.untuned = error(results.surrogate.network);
    for (const std::uint64_t count : plan_.tuned_on) {
      folder_.say(fmt::format("tuning on {} traces of the cross-section", count));
      const auto learned = [&](data::StoreReader& reader, std::shared_ptr<Network> start,
                               double rate_factor) {
        TrainOptions training = plan_.surrogate.training;
        training.traces = plan_.tuning_seen;
        training.validate_every = 0;
        training.rate.learning_rate *= rate_factor;
        train_on_store(*start, training, reader, std::min(count * 20 / 19 + 1, in_store), {}, {});
        folder_.stop_if_asked();
        return error(std::move(start));
      };
      data::StoreReader second(*store);
      auto from_nothing = std::async(std::launch::async, [&] {
        return learned(second, std::make_shared<Network>(plan_.surrogate.network, request_.seed),
                       1);
      });
      // Slower: what was learned should stay.
      const double from_slab =
          learned(*store, std::make_shared<Network>(*results.surrogate.network), 0.25);
      results.tuning.push_back({count, from_slab, from_nothing.get()});
    }
  }

  const ExperimentRequest& request_;
  const Plan& plan_;
  const ExperimentFolder folder_;
  InProcess slab_{model()}, section_{model_2d()};
  std::optional<SurrogateSimulator> surrogate_, smallest_;
  std::shared_ptr<const CompiledNetwork> proposals_;
};

}  // namespace

ExperimentReport run_experiment(const ExperimentRequest& request) {
  return run_experiment(request, plan(request));
}

ExperimentReport run_experiment(const ExperimentRequest& request, const Plan& plan) {
  return write_report(Experiment(request, plan).run(), plan, request);
}

}  // namespace psn::composite_cure
