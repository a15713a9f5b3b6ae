#include "experiments/program_synthesis/experiment.h"

#include <fmt/format.h>

#include <algorithm>

#include "experiments/program_synthesis/markov.h"
#include "psn/base/error.h"
#include "psn/core/in_process.h"
#include "psn/nn/surrogate.h"

namespace psn::program_synthesis {
namespace {

// Random numbers of their own for each use of the seed: with the same ones the surrogate's programs
// would follow the simulator's, draw by draw, and look more alike than they are.
enum class Use : std::uint64_t { kSimulator = 1, kAgain, kSurrogate, kMarkov, kCurve };
std::uint64_t seed_for(Use use, std::uint64_t seed) {
  return seed + (static_cast<std::uint64_t>(use) << 48);
}

Sample draw(Simulator& simulator, std::uint64_t count, Use use, const ExperimentRequest& request) {
  return draw_programs(simulator, count, seed_for(use, request.seed), request.monitor);
}

void train(const ExperimentRequest& request, TrainOptions training, Simulator& simulator,
           Results& results) {
  constexpr std::uint64_t kPoints = 20;  // of the curve
  constexpr double kPlausible = 1;       // nats: a worse network may write without an end
  training.progress_every =
      std::max<std::uint64_t>(1, training.traces / training.batch_size / kPoints);
  results.training = train_online(simulator, *results.network, training, [&](const Progress& p) {
    results.curve.push_back({p, std::nullopt});
    std::string line = fmt::format("{} of {} traces, KL {:.4f}, {:.0f} traces/s", p.traces,
                                   training.traces, p.kl, p.traces_per_second);
    if (p.kl < kPlausible) {
      SurrogateSimulator now(simulator.name(), std::make_shared<Network>(*results.network));
      const double valid = draw(now, 2'000, Use::kCurve, request).valid_strict();
      results.curve.back().valid_strict = valid;
      line += fmt::format(", {:.1f} % valid", 100 * valid);
    }
    if (request.status) request.status(line);
  });
  if (request.monitor && request.monitor->stop.load()) throw Interrupted();
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
    plan.recipe.network.lstm_dim = 75;
  }
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
  results.network = std::make_shared<Network>(plan.recipe.network, request.seed);
  train(request, plan.recipe.training, simulator, results);
  if (request.status) request.status(fmt::format("drawing {} programs", count));
  SurrogateSimulator surrogate(simulator.name(), results.network);
  results.simulator = draw(simulator, count, Use::kSimulator, request);
  results.simulator_again = draw(simulator, count, Use::kAgain, request);
  results.surrogate = draw(surrogate, count, Use::kSurrogate, request);
  MarkovBaseline baseline;
  for (const Program& program : results.simulator.programs) baseline.add(program.statements);
  results.markov_baseline = baseline.validity(count, seed_for(Use::kMarkov, request.seed));
  return results;
}

}  // namespace psn::program_synthesis
