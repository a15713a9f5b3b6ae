#include "psn/infer/delayed_acceptance.h"

#include <algorithm>
#include <cmath>

#include "psn/base/error.h"
#include "psn/infer/chain_pool.h"
#include "psn/infer/delayed_chain.h"
#include "psn/infer/diagnostics.h"
#include "psn/infer/replay.h"

namespace psn {
namespace {

using DelayedPool = ChainPool<DelayedChain>;
using MovingChains = std::vector<DelayedChain*>;  // by slot

// So many steps of each chain inside the first surrogate.
class KernelSteps : public Guide, public Task {
 public:
  explicit KernelSteps(const MovingChains& chains) : chains_(chains) {
    for (const DelayedChain* chain : chains) left_.push_back(chain->moves(1));
  }

  std::optional<Ticket> next(Slot slot) override {
    if (slot >= chains_.size() || left_[slot] == 0) return std::nullopt;
    return kernel(slot).propose();
  }
  void choose(std::span<const Pending> requests, std::span<Choice> choices) override {
    for (std::size_t i = 0; i < requests.size(); ++i) {
      choices[i] = kernel(requests[i].slot).choose(requests[i]);
    }
  }
  const Value* replay(const Pending& request) override {
    return kernel(request.slot).replay(request);
  }
  void finished(Slot slot, const Ticket&, Trace& trace) override {
    const std::uint64_t before = kernel(slot).iteration();
    kernel(slot).finish(trace, chains_[slot]->adapts());
    left_[slot] -= kernel(slot).iteration() - before;
  }

 private:
  Chain& kernel(Slot slot) { return chains_[slot]->kernel(); }

  const MovingChains& chains_;
  std::vector<std::uint64_t> left_;
};

// A run of each chain at a level, where it has one to make.
class LevelRuns : public ReplayGuide, public Task {
 public:
  using Settle = std::function<void(std::size_t chain, Trace* run)>;
  LevelRuns(const MovingChains& chains, std::size_t level, const Settle& settle)
      : ReplayGuide([this](Slot slot, const Ticket&) { return chains_[slot]->followed(level_); }),
        chains_(chains),
        level_(level),
        settle_(settle),
        begun_(chains.size()) {}

  std::optional<Ticket> next(Slot slot) override {
    if (slot >= chains_.size() || begun_[slot] || !chains_[slot]->runs(level_)) return std::nullopt;
    begun_[slot] = true;
    return chains_[slot]->ticket(level_);
  }
  void finished(Slot slot, const Ticket&, Trace& trace) override { settle_(slot, &trace); }
  void failed(Slot slot, const Ticket&) override { settle_(slot, nullptr); }

  // Those that had none.
  void settle_others() {
    for (std::size_t i = 0; i < chains_.size(); ++i) {
      if (!begun_[i]) settle_(i, nullptr);
    }
  }

 private:
  const MovingChains& chains_;
  const std::size_t level_;
  const Settle& settle_;
  std::vector<char> begun_;
};

// What one thread moves its chains with.
class Ladder {
 public:
  Ladder(Simulator& simulator, const Observations& observations, const DelayedOptions& options,
         const std::atomic<bool>& cancelled, std::size_t width)
      : cancelled_(cancelled) {
    for (const SurrogateLevel& level : options.surrogates) {
      ensembles_.push_back(level.simulator->ensemble(width));
    }
    ensembles_.push_back(simulator.ensemble(width));
    on_top_ = options.run_options(&observations);
    on_top_.cancelled = &cancelled;
    inside_ = on_top_;
    inside_.monitor = nullptr;  // which counts runs of the simulator
    if (options.monitor) on_top_.heartbeat = options.monitor->add_thread();
  }

  std::size_t top() const { return ensembles_.size() - 1; }

  // One move of each, begun already; `settle` ends it.
  void move(std::size_t level, const MovingChains& chains, const LevelRuns::Settle& settle) {
    move_below(level, chains);
    if (cancelled_) return;
    LevelRuns runs(chains, level, settle);
    run(*ensembles_[level], runs, runs, level == top() ? on_top_ : inside_);
    if (!cancelled_) runs.settle_others();
  }

 private:
  void move_below(std::size_t level, const MovingChains& chains) {
    if (level == 1) {
      KernelSteps steps(chains);
      return run(*ensembles_[0], steps, steps, inside_);
    }
    for (std::uint64_t step = 0; !cancelled_; ++step) {
      MovingChains going;
      for (DelayedChain* chain : chains) {
        if (chain->moves(level) > step) going.push_back(chain);
      }
      if (going.empty()) return;
      for (DelayedChain* chain : going) chain->begin(level - 1);
      move(level - 1, going, [&](std::size_t i, Trace* run) { going[i]->finish(level - 1, run); });
    }
  }

  const std::atomic<bool>& cancelled_;
  std::vector<std::unique_ptr<Ensemble>> ensembles_;  // by level
  RunOptions on_top_, inside_;
};

// Moves chains of the pool until none is left.
void move_all(Ladder& ladder, DelayedPool& pool, std::size_t width,
              const std::atomic<bool>& cancelled) {
  std::vector<DelayedPool::Place*> places;
  const LevelRuns::Settle settle = [&](std::size_t i, Trace* run) {
    const std::lock_guard lock(places[i]->mutex);
    const std::uint64_t before = places[i]->chain->iteration();
    const bool moved = places[i]->chain->finish(ladder.top(), run);
    if (places[i]->chain->iteration() != before) pool.keep(*places[i], moved);
  };
  while (!cancelled) {
    std::erase_if(places, [&](DelayedPool::Place* place) { return pool.done(*place->chain); });
    while (places.size() < width) {
      DelayedPool::Place* more = pool.next();
      if (!more) break;
      places.push_back(more);
    }
    if (places.empty()) return;
    MovingChains chains;
    for (DelayedPool::Place* place : places) {
      const std::lock_guard lock(place->mutex);
      place->chain->begin(ladder.top());
      chains.push_back(&*place->chain);
    }
    ladder.move(ladder.top(), chains, settle);
  }
}

void check_levels(Simulator& simulator, const DelayedOptions& options) {
  if (options.surrogates.empty()) throw InvalidArgument("delayed acceptance needs a surrogate");
  if (options.most_moves == 0) throw InvalidArgument("`moves` must be at least 1");
  for (const SurrogateLevel& level : options.surrogates) {
    if (&level.simulator->addresses() == &simulator.addresses()) continue;
    throw InvalidArgument("a surrogate of delayed acceptance shares the simulator's addresses");
  }
}

}  // namespace

DelayedResult delayed_acceptance(Simulator& simulator, const Observations& observations,
                                 const DelayedOptions& options) {
  check_levels(simulator, options);
  DelayedResult result{DelayedPool::posterior(options)};
  DelayedPool chains(options, result.posterior);
  {
    const OpenWindow window(options.window, [&] { return chains.state(); });
    const Parallelism used = effective(options.parallelism, simulator, options.chains);
    on_threads(used.threads, [&](const std::atomic<bool>& cancelled) {
      Ladder ladder(simulator, observations, options, cancelled, used.width);
      move_all(ladder, chains, used.width, cancelled);
    });
  }
  result.acceptance = chains.acceptance();
  result.iterations = chains.iterations();
  result.moves.resize(options.surrogates.size());
  std::vector<double> log_weights;
  for (const DelayedPool::Place& place : chains.places()) {
    const ChainState::Delayed& d = place.chain->delayed();
    result.longest_stay = std::max(result.longest_stay, d.longest);
    log_weights.insert(log_weights.end(), d.log_weights.begin(), d.log_weights.end());
    for (std::size_t level = 1; level <= result.moves.size(); ++level) {
      result.moves[level - 1] +=
          place.chain->adapted_moves(level) / static_cast<double>(options.chains);
    }
  }
  result.khat = pareto_khat(log_weights).khat;
  return result;
}

}  // namespace psn
