#include "psn/infer/pseudo_marginal.h"

#include <algorithm>

#include "psn/base/error.h"
#include "psn/infer/chain_pool.h"
#include "psn/infer/marginal_chain.h"

namespace psn {
namespace {

using MarginalPool = ChainPool<MarginalChain>;
using Level = MarginalChain::Level;
using MarginalChains = std::vector<MarginalChain*>;

// What one thread moves its chains with, all of them together.
class MarginalMoves {
 public:
  MarginalMoves(Simulator& simulator, const Observations& observations,
                const MarginalOptions& options, const std::atomic<bool>& cancelled,
                std::size_t width)
      : parameters_(options.parameters), cancelled_(cancelled) {
    simulator_ = simulator.ensemble(width);
    if (options.surrogate) surrogate_ = options.surrogate->ensemble(width);
    outside_ = options.run_options(&observations);
    outside_.cancelled = &cancelled;
    inside_ = outside_;
    inside_.monitor = nullptr;  // which counts runs of the simulator
    if (options.monitor) outside_.heartbeat = options.monitor->add_thread();
  }

  // All but the end of an iteration; false: it was cut short.
  bool iterate(const MarginalChains& chains) {
    for (std::uint64_t step = 0; !cancelled_; ++step) {
      MarginalChains going;
      for (MarginalChain* chain : chains) {
        if (chain->moves() > step) going.push_back(chain);
      }
      if (going.empty()) break;
      settle(going, Level::kSurrogate);
    }
    MarginalChains running;
    for (MarginalChain* chain : chains) {
      if (chain->runs()) running.push_back(chain);
    }
    settle(running, Level::kSimulator);
    std::erase_if(running, [](MarginalChain* chain) { return !chain->follows(); });
    std::vector<MarginalEstimate*> estimates;
    for (MarginalChain* chain : running) estimates.push_back(chain->follow());
    if (!running.empty() && make(*surrogate_, inside_, estimates)) {
      for (MarginalChain* chain : running) chain->finish_following();
    }
    return !cancelled_;
  }

 private:
  void settle(const MarginalChains& chains, Level level) {
    if (chains.empty() || cancelled_) return;
    std::vector<MarginalEstimate*> estimates;
    MarginalChains waiting;
    for (MarginalChain* chain : chains) {
      MarginalEstimate* estimate = chain->propose(level);
      if (!estimate) continue;
      estimates.push_back(estimate);
      waiting.push_back(chain);
    }
    if (waiting.empty()) return;
    const bool in_simulator = level == Level::kSimulator;
    const bool made = make(in_simulator ? *simulator_ : *surrogate_,
                           in_simulator ? outside_ : inside_, estimates);
    if (!made) return;
    for (MarginalChain* chain : waiting) chain->finish(level);
  }

  bool make(Ensemble& ensemble, const RunOptions& options,
            std::span<MarginalEstimate* const> estimates) {
    make_estimates(ensemble, parameters_, options, estimates);
    return !cancelled_;
  }

  const ParameterNames parameters_;
  const std::atomic<bool>& cancelled_;
  std::unique_ptr<Ensemble> simulator_, surrogate_;
  RunOptions outside_, inside_;
};

void iterate_all(MarginalMoves& moves, MarginalPool& pool, std::size_t width,
                 const std::atomic<bool>& cancelled) {
  std::vector<MarginalPool::Place*> places;
  while (!cancelled) {
    std::erase_if(places, [&](MarginalPool::Place* place) { return pool.done(*place->chain); });
    while (places.size() < width) {
      MarginalPool::Place* more = pool.next();
      if (!more) break;
      places.push_back(more);
    }
    if (places.empty()) return;
    MarginalChains chains;
    for (MarginalPool::Place* place : places) {
      const std::lock_guard lock(place->mutex);
      place->chain->begin();
      chains.push_back(&*place->chain);
    }
    if (!moves.iterate(chains)) return;
    for (MarginalPool::Place* place : places) {
      const std::lock_guard lock(place->mutex);
      const std::uint64_t before = place->chain->iteration();
      const bool moved = place->chain->end();
      if (place->chain->iteration() != before) pool.keep(*place, moved);
    }
  }
}

void check_marginal(Simulator& simulator, const MarginalOptions& options) {
  if (options.parameters.empty()) throw InvalidArgument("`parameters` must name some latents");
  if (options.most_moves == 0 || options.most_runs == 0) {
    throw InvalidArgument("a pseudo-marginal chain makes one move, of one run, at least");
  }
  if (options.surrogate && &options.surrogate->addresses() != &simulator.addresses()) {
    throw InvalidArgument("a surrogate of a chain shares the simulator's addresses");
  }
}

}  // namespace

MarginalResult pseudo_marginal(Simulator& simulator, const Observations& observations,
                               const MarginalOptions& options) {
  check_marginal(simulator, options);
  MarginalResult result{MarginalPool::posterior(options)};
  MarginalPool chains(options, result.posterior);
  {
    const OpenWindow window(options.window, [&] { return chains.state(); });
    // Each chain has several runs under way at once.
    const Parallelism used =
        effective(options.parallelism, simulator, options.chains * options.most_runs);
    const std::size_t threads = std::min(used.threads, options.chains);
    const std::size_t share = (options.chains + threads - 1) / threads;
    on_threads(threads, [&](const std::atomic<bool>& cancelled) {
      MarginalMoves moves(simulator, observations, options, cancelled, used.width);
      iterate_all(moves, chains, share, cancelled);
    });
  }
  result.acceptance = chains.acceptance();
  result.iterations = chains.iterations();
  const auto count = static_cast<double>(options.chains);
  for (const MarginalPool::Place& place : chains.places()) {
    const MarginalChain& chain = *place.chain;
    result.moves += chain.moves_for_one() / count;
    result.runs += static_cast<double>(chain.runs_for_one()) / count;
    result.variance += chain.variance() / count;
    result.longest_stay = std::max(result.longest_stay, chain.longest_stay());
  }
  return result;
}

}  // namespace psn
