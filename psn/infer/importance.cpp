#include "psn/infer/importance.h"

#include <atomic>

#include "psn/base/error.h"

namespace psn {
namespace {

// What became of each trace; filled by several threads, each its own.
enum class Place : std::uint8_t { kMissing, kThere, kFailed };
using Places = std::vector<std::atomic<Place>>;

std::vector<std::uint64_t> all_of(const Places& places, Place wanted) {
  std::vector<std::uint64_t> found;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i].load(std::memory_order_acquire) == wanted) found.push_back(i);
  }
  return found;
}

void restore(const EngineState& state, Draws* draws, Posterior& posterior, Places& places) {
  if (!posterior.same_columns(state.posterior)) {
    throw InvalidArgument("what there is has other quantities than are asked for now");
  }
  for (std::size_t k = 0; k < state.rows.size(); ++k) {
    places.at(state.rows[k]).store(Place::kThere);
    posterior.put_from(state.rows[k], state.posterior, k);
  }
  for (const std::uint64_t i : state.failed) places.at(i).store(Place::kFailed);
  if (draws) draws->restore(Draws::parse(state.draws, "draws so far"), state.rows);
}

enum class Weighing { kExact, kEqual };

// Rows of traces that the simulator could not finish are left out.
Posterior weighted_traces(Simulator& simulator, const RunOptions& how, const EngineOptions& options,
                          const GuideFactory& make_guide, Weighing weighing = Weighing::kExact) {
  Posterior posterior(options.queries, options.samples, options.keep_traces);
  Places places(options.samples);
  if (options.resume) restore(*options.resume, options.draws, posterior, places);
  {
    const OpenWindow window(options.window, [&] {
      EngineState state;
      state.samples = options.samples;
      state.rows = all_of(places, Place::kThere);
      state.failed = all_of(places, Place::kFailed);
      state.posterior = posterior.select({state.rows.begin(), state.rows.end()});
      if (options.draws) state.draws = options.draws->serialize();
      return state;
    });
    RunOptions run_options = how;
    const auto settle = [&](std::uint64_t i, Place place) {
      places[i - options.first].store(place, std::memory_order_release);
    };
    run_options.failed = [&](std::uint64_t i) { settle(i, Place::kFailed); };
    if (options.resume) {
      run_options.skip = [&](std::uint64_t i) {
        return places[i - options.first].load(std::memory_order_relaxed) != Place::kMissing;
      };
    }
    run_traces(
        simulator, options.samples, make_guide,
        [&](std::uint64_t i, Trace& trace) {
          const double log_weight = weighing == Weighing::kExact ? trace.log_weight : 0;
          posterior.put(i - options.first, trace, log_weight);
          if (options.draws) options.draws->offer(i, trace, log_weight);
          settle(i, Place::kThere);
        },
        run_options, options.parallelism);
  }
  if (all_of(places, Place::kFailed).empty()) return posterior;
  return posterior.filter([&](std::size_t i) { return places[i].load() != Place::kFailed; });
}

}  // namespace

GuideFactory prior_guide() {
  return [] { return std::make_unique<PriorGuide>(); };
}

Posterior importance_sampling(Simulator& simulator, const Observations& observations,
                              const EngineOptions& options, const GuideFactory& make_guide) {
  return weighted_traces(simulator, options.run_options(&observations), options, make_guide);
}

Posterior guided_draws(Simulator& simulator, const Observations& observations,
                       const EngineOptions& options, const GuideFactory& make_guide) {
  RunOptions how = options.run_options(&observations);
  how.weighs = false;
  return weighted_traces(simulator, how, options, make_guide, Weighing::kEqual);
}

Posterior simulate(Simulator& simulator, const EngineOptions& options) {
  RunOptions forward = options.run_options(nullptr);
  forward.seed = seed_for(DrawsFor::kSimulation, options.seed);
  return weighted_traces(simulator, forward, options, prior_guide());
}

}  // namespace psn
