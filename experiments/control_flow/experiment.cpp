#include "experiments/control_flow/experiment.h"

#include <fmt/format.h>

#include <mutex>
#include <optional>

#include "experiments/control_flow/results.h"
#include "psn/base/error.h"
#include "psn/core/in_process.h"
#include "psn/infer/diagnostics.h"
#include "psn/infer/importance.h"
#include "psn/infer/metropolis.h"
#include "psn/nn/run/network_guide.h"
#include "psn/nn/run/surrogate.h"
#include "psn/services/host.h"

namespace psn::control_flow {
namespace {

// How much of everything; the paper's numbers, or a quick look.
struct Size {
  std::uint64_t training = 500'000, validation = 10'000;
  std::uint64_t lmh = 1'000'000, ic = 10'000, forward = 50'000;
};
constexpr Size kQuick{100'000, 2'000, 200'000, 10'000, 20'000};

// Of the seed.
enum class Use : std::uint64_t { kSimulator = 1, kAgain, kSurrogate, kHeldOut, kInference };

class Experiment {
 public:
  explicit Experiment(const ExperimentRequest& request)
      : request_(request),
        folder_(request),
        size_(request.quick ? kQuick : Size{}),
        simulator_(model()) {
    if (request.traces > 0) size_.training = request.traces;
  }

  Results run() {
    Results results;
    results.surrogate = train(Purpose::kSurrogate, "surrogate");
    results.inference = train(Purpose::kInference, "inference");
    SurrogateSimulator& surrogate = surrogate_.emplace("surrogate", results.surrogate.network);
    results.deviation = deviation(*results.surrogate.network);
    folder_.say("running simulator and surrogate forward");
    results.simulator = forward(simulator_, Use::kSimulator);
    results.simulator_again = forward(simulator_, Use::kAgain);
    results.surrogate_traces = forward(surrogate, Use::kSurrogate);
    folder_.say("inference compilation");
    const auto network = std::make_shared<const CompiledNetwork>(results.inference.network);
    results.ic_simulator = compiled_inference(simulator_, network);
    results.ic_surrogate = compiled_inference(surrogate, network);
    folder_.say("Metropolis-Hastings");
    results.lmh = lmh();
    return results;
  }

 private:
  TrainedNetwork train(Purpose purpose, const std::string& name) {
    Preset recipe = preset(request_.preset, purpose);
    set_core(request_, recipe.network);
    recipe.training.traces = size_.training;
    recipe.training.validation_traces = size_.validation;
    recipe.training.seed = request_.seed;
    recipe.training.monitor = request_.monitor;
    constexpr std::uint64_t kPoints = 25;  // of the curve
    recipe.training.progress_every =
        std::max<std::uint64_t>(1, size_.training / recipe.training.batch_size / kPoints);
    return folder_.network(name, online_plan(simulator_, recipe));
  }

  RunOptions run_options(Use use) const {
    return {.seed = experiment_seed(use, request_.seed),
            .keep_distributions = use == Use::kHeldOut,
            .monitor = request_.monitor};
  }

  ConditionalDeviation deviation(const Network& network) {
    std::vector<Trace> traces(size_.forward);
    run_traces(simulator_, size_.forward, prior_guide(),
               [&](std::uint64_t i, Trace& trace) { traces[i] = std::move(trace); },
               run_options(Use::kHeldOut), {});
    ConditionalComparison comparison(network);
    constexpr std::size_t kSlice = 8192;
    for (std::size_t first = 0; first < traces.size(); first += kSlice) {
      comparison.add(std::span(traces).subspan(first, std::min(kSlice, traces.size() - first)));
    }
    return comparison.result();
  }

  Forward forward(Simulator& simulator, Use use) {
    Forward result;
    // By trace: sums in the order of threads would differ from run to run.
    std::vector<double> x(size_.forward);
    std::vector<int> loops(size_.forward);
    result.go_on.resize(size_.forward);
    std::mutex mutex;
    const services::Stopwatch clock;
    run_traces(simulator, size_.forward, prior_guide(),
               [&](std::uint64_t i, Trace& trace) {
                 result.go_on[i] = {trace["theta"].scalar(), trace["c_0"].scalar()};
                 x[i] = trace["x"].scalar();
                 loops[i] = static_cast<int>(trace.length() - 2) / 3;
                 const std::lock_guard lock(mutex);
                 result.transitions.add(trace);
                 result.paths.add(trace);
               },
               run_options(use), {512, 0});
    result.traces_per_second = static_cast<double>(size_.forward) / clock.seconds();
    for (std::size_t i = 0; i < x.size(); ++i) {
      auto& [count, sum] = result.x_by_loops[loops[i]];
      ++count;
      sum += x[i];
    }
    return result;
  }

  EngineOptions engine_options(std::uint64_t samples) const {
    EngineOptions options;
    options.samples = samples;
    options.queries = {{.name = "theta"}};
    options.seed = experiment_seed(Use::kInference, request_.seed);
    options.monitor = request_.monitor;
    return options;
  }

  Inferred compiled_inference(Simulator& simulator,
                              std::shared_ptr<const CompiledNetwork> network) {
    EngineOptions options = engine_options(size_.ic);
    options.parallelism.width = 512;
    const auto guide = network_guide(std::move(network), simulator, data_);
    const services::Stopwatch clock;
    Posterior posterior = importance_sampling(simulator, data_, options, guide);
    const double seconds = clock.seconds();
    const double ess = posterior.effective_sample_size();
    return {std::move(posterior), ess, static_cast<double>(size_.ic) / seconds};
  }

  Inferred lmh() {
    MetropolisOptions options;
    static_cast<EngineOptions&>(options) = engine_options(size_.lmh);
    options.burn_in = size_.lmh / options.chains / 10;
    const services::Stopwatch clock;
    MetropolisResult result = metropolis_hastings(simulator_, data_, options);
    const double seconds = clock.seconds();
    const double ess = effective_sample_size(result.posterior, "theta");
    return {std::move(result.posterior), ess, static_cast<double>(result.iterations) / seconds};
  }

  const ExperimentRequest& request_;
  const ExperimentFolder folder_;
  Size size_;
  // The results refer to their addresses.
  InProcess simulator_;
  std::optional<SurrogateSimulator> surrogate_;
  const Observations data_{{"x", Value(kObserved)}};
};

}  // namespace

ExperimentReport run_experiment(const ExperimentRequest& request) {
  Experiment experiment(request);
  return write_report(experiment.run(), request);
}

}  // namespace psn::control_flow
