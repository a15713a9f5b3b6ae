#include "psn/infer/metropolis.h"

#include "psn/infer/chain.h"
#include "psn/infer/chain_pool.h"

namespace psn {
namespace {

using MetropolisPool = ChainPool<Chain>;

// The chains of one thread: each slot of the ensemble works on one chain until it is done.
class ChainTask : public Guide, public Task {
 public:
  ChainTask(const MetropolisOptions& options, MetropolisPool& chains, std::size_t width)
      : options_(options), chains_(chains), places_(width) {}

  std::optional<Ticket> next(Slot slot) override {
    MetropolisPool::Place*& place = places_[slot];
    if (!place || chains_.done(*place->chain)) place = chains_.next();
    if (!place) return std::nullopt;
    const std::lock_guard lock(place->mutex);
    return place->chain->propose();
  }

  void choose(std::span<const Pending> requests, std::span<Choice> choices) override {
    for (std::size_t i = 0; i < requests.size(); ++i) {
      choices[i] = places_[requests[i].slot]->chain->choose(requests[i]);
    }
  }

  const Value* replay(const Pending& request) override {
    return places_[request.slot]->chain->replay(request);
  }

  void finished(Slot slot, const Ticket&, Trace& trace) override {
    settle(*places_[slot],
           [&](Chain& chain) { return chain.finish(trace, chain.iteration() < options_.burn_in); });
  }

  void failed(Slot slot, const Ticket&) override {
    settle(*places_[slot], [](Chain& chain) {
      chain.fail();
      return false;
    });
  }

 private:
  // `settle` is told whether the chain moved.
  template <class Settle>
  void settle(MetropolisPool::Place& place, Settle settle) {
    const std::lock_guard lock(place.mutex);
    const std::uint64_t before = place.chain->iteration();
    const bool moved = settle(*place.chain);
    if (place.chain->iteration() != before) chains_.keep(place, moved);
  }

  const MetropolisOptions& options_;
  MetropolisPool& chains_;
  std::vector<MetropolisPool::Place*> places_;  // by slot
};

}  // namespace

MetropolisResult metropolis_hastings(Simulator& simulator, const Observations& observations,
                                     const MetropolisOptions& options) {
  MetropolisResult result{MetropolisPool::posterior(options)};
  MetropolisPool chains(options, result.posterior);
  {
    const OpenWindow window(options.window, [&] { return chains.state(); });
    const Parallelism used = effective(options.parallelism, simulator, options.chains);
    on_threads(used.threads, [&](const std::atomic<bool>& cancelled) {
      const auto ensemble = simulator.ensemble(used.width);
      RunOptions run_options = options.run_options(&observations);
      run_options.cancelled = &cancelled;
      ChainTask task(options, chains, used.width);
      run(*ensemble, task, task, run_options);
    });
  }
  result.acceptance = chains.acceptance();
  result.iterations = chains.iterations();
  return result;
}

}  // namespace psn
