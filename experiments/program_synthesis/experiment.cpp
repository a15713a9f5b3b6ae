#include "experiments/program_synthesis/experiment.h"

#include <fmt/format.h>

#include <algorithm>

#include "experiments/program_synthesis/markov.h"
#include "psn/core/in_process.h"
#include "psn/nn/run/surrogate.h"

namespace psn::program_synthesis {
namespace {

// Of the seed.
enum class Use : std::uint64_t { kSimulator = 1, kAgain, kSurrogate, kMarkov, kCurve };

Sample draw(Simulator& simulator, std::uint64_t count, Use use, const ExperimentRequest& request) {
  return draw_programs(simulator, count, experiment_seed(use, request.seed), request.monitor);
}

TrainingPlan training_plan(const ExperimentRequest& request, Preset recipe, Simulator& simulator) {
  constexpr std::uint64_t kPoints = 20;  // of the curve
  TrainOptions& training = recipe.training;
  training.progress_every =
      std::max<std::uint64_t>(1, training.traces / training.batch_size / kPoints);
  TrainingPlan plan = online_plan(simulator, std::move(recipe));
  plan.measure = [&](const Network& network, const Progress& p) -> std::optional<double> {
    constexpr double kPlausible = 1;  // nats: a worse network may write without an end
    if (p.kl >= kPlausible) return std::nullopt;
    SurrogateSimulator now(simulator.name(), std::make_shared<Network>(network));
    return draw(now, 2'000, Use::kCurve, request).valid_strict();
  };
  return plan;
}

}  // namespace

Plan plan(const ExperimentRequest& request) {
  Plan plan{.recipe = preset(request.preset)};
  TrainOptions& training = plan.recipe.training;
  plan.recipe.network.addressing = Addressing::kSite;
  training.seed = request.seed;
  training.monitor = request.monitor;
  training.validation_traces = 10'000;
  if (request.preset == "default") {
    // A trace of this simulator is long, so few of them make a good gradient; what is scarce is
    // updates: each level of the stack is learned on its own, the deep ones last. Half the paper's
    // width is as good and twice as fast (docs/program-synthesis.md).
    training.batch_size = 32;
    training.rate.learning_rate = 4e-3;
    training.adam.clip_norm = 0;
    plan.recipe.network.core_dim = 75;
    plan.recipe.network.recall = 0;
  }
  set_core(request, plan.recipe.network);
  if (request.quick) {
    training.traces = 20'000;
    training.validation_traces = 1'000;
    plan.programs = 5'000;
  }
  if (request.traces > 0) training.traces = request.traces;
  return plan;
}

Results measure(const ExperimentRequest& request, const Plan& plan) {
  const std::uint64_t count = plan.programs;
  InProcess simulator(model());
  Results results;
  const ExperimentFolder folder(request);
  results.trained = folder.network("surrogate", training_plan(request, plan.recipe, simulator));
  folder.say(fmt::format("drawing {} programs", count));
  SurrogateSimulator surrogate(simulator.name(), results.trained.network);
  results.simulator = draw(simulator, count, Use::kSimulator, request);
  results.simulator_again = draw(simulator, count, Use::kAgain, request);
  results.surrogate = draw(surrogate, count, Use::kSurrogate, request);
  MarkovBaseline baseline;
  for (const Program& program : results.simulator.programs) baseline.add(program.statements);
  results.markov_baseline = baseline.validity(count, experiment_seed(Use::kMarkov, request.seed));
  return results;
}

}  // namespace psn::program_synthesis
