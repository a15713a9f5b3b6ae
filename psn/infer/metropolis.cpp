#include "psn/infer/metropolis.h"

#include <algorithm>
#include <mutex>

#include "psn/base/error.h"
#include "psn/infer/chain.h"

namespace psn {
namespace {

// All chains of a call, each with its lock: a window may look at them while they move.
class ChainPool {
 public:
  ChainPool(const MetropolisOptions& options, std::uint64_t samples_per_chain)
      : options_(options), samples_(samples_per_chain), places_(options.chains) {}

  struct Place {
    std::mutex mutex;
    std::optional<Chain> chain;
  };

  void restore(const EngineState& state, Posterior& posterior) {
    if (!posterior.same_columns(state.posterior)) {
      throw InvalidArgument("what there is has other quantities than are asked for now");
    }
    for (std::size_t k = 0; k < state.rows.size(); ++k) {
      posterior.put_from(state.rows[k], state.posterior, k);
    }
    if (options_.draws) {
      options_.draws->restore(Draws::parse(state.draws, "draws so far"), state.rows);
    }
    for (const ChainState& chain : state.chains) {
      places_.at(chain.id - options_.first).chain.emplace(chain, options_);
    }
  }

  // One that is not done yet, begun if it was not before; null: none is left.
  Place* next() {
    for (;;) {
      const std::uint32_t i = next_.fetch_add(1);
      if (i >= places_.size()) return nullptr;
      Place& place = places_[i];
      const std::lock_guard lock(place.mutex);
      const auto id = static_cast<std::uint32_t>(options_.first) + i;
      if (!place.chain) place.chain.emplace(id, options_);
      if (!done(*place.chain)) return &place;
    }
  }

  bool done(const Chain& chain) const {
    return chain.iteration() == options_.burn_in + samples_ * options_.thinning;
  }
  std::uint64_t after_burn_in(const Chain& chain) const {
    return chain.iteration() - std::min(chain.iteration(), options_.burn_in);
  }
  std::size_t first_row(const Chain& chain) const {
    return (chain.id() - options_.first) * samples_;
  }

  std::uint64_t samples() const { return samples_; }  // of each

  EngineState state(const Posterior& posterior) {
    EngineState state;
    for (Place& place : places_) {
      const std::lock_guard lock(place.mutex);
      if (!place.chain) continue;
      state.chains.push_back(place.chain->state());
      const std::uint64_t kept = after_burn_in(*place.chain) / options_.thinning;
      for (std::uint64_t i = 0; i < kept; ++i) state.rows.push_back(first_row(*place.chain) + i);
    }
    state.posterior = posterior.select({state.rows.begin(), state.rows.end()});
    if (options_.draws) state.draws = options_.draws->serialize();
    return state;
  }

  void summarize(MetropolisResult& result) const {
    std::uint64_t accepted = 0, after = 0;
    for (const Place& place : places_) {
      result.iterations += place.chain->iteration();
      accepted += place.chain->accepted();
      after += after_burn_in(*place.chain);
    }
    result.acceptance = static_cast<double>(accepted) / static_cast<double>(after);
  }

 private:
  const MetropolisOptions& options_;
  std::uint64_t samples_;
  std::vector<Place> places_;
  std::atomic<std::uint32_t> next_{0};
};

// The chains of one thread: each slot of the ensemble works on one chain until it is done.
class ChainTask : public Guide, public Task {
 public:
  ChainTask(const MetropolisOptions& options, ChainPool& chains, std::size_t width,
            Posterior& posterior)
      : options_(options), chains_(chains), posterior_(posterior), slots_(width) {}

  std::optional<Ticket> next(Slot slot) override {
    auto& [place, last_row] = slots_[slot];
    if (!place || chains_.done(*place->chain)) {
      place = chains_.next();
      last_row.reset();
      if (!place) return std::nullopt;
    }
    const std::lock_guard lock(place->mutex);
    return place->chain->propose();
  }

  void choose(std::span<const Pending> requests, std::span<Choice> choices) override {
    for (std::size_t i = 0; i < requests.size(); ++i) {
      choices[i] = slots_[requests[i].slot].place->chain->choose(requests[i]);
    }
  }

  const Value* replay(const Pending& request) override {
    return slots_[request.slot].place->chain->replay(request);
  }

  void finished(Slot slot, const Ticket&, Trace& trace) override {
    const std::lock_guard lock(slots_[slot].place->mutex);
    Chain& chain = *slots_[slot].place->chain;
    const std::uint64_t before = chain.iteration();
    if (chain.finish(trace)) slots_[slot].last_row.reset();
    if (chain.iteration() != before) keep(slots_[slot]);
  }

  void failed(Slot slot, const Ticket&) override {
    const std::lock_guard lock(slots_[slot].place->mutex);
    Chain& chain = *slots_[slot].place->chain;
    const std::uint64_t before = chain.iteration();
    chain.fail();
    if (chain.iteration() != before) keep(slots_[slot]);
  }

 private:
  struct Work {
    ChainPool::Place* place = nullptr;
    std::optional<std::size_t> last_row;  // where the chain's current state was put
  };

  // Every so manieth state after burn-in.
  void keep(Work& work) {
    const Chain& chain = *work.place->chain;
    const std::uint64_t since = chains_.after_burn_in(chain);
    if (since == 0 || since % options_.thinning != 0) return;
    const std::size_t row = chains_.first_row(chain) + since / options_.thinning - 1;
    if (work.last_row) {
      posterior_.put_again(row, *work.last_row);
    } else {
      posterior_.put(row, chain.current(), 0);
    }
    work.last_row = row;
    if (options_.draws) {
      options_.draws->offer(options_.first * chains_.samples() + row, chain.current(), 0);
    }
  }

  const MetropolisOptions& options_;
  ChainPool& chains_;
  Posterior& posterior_;
  std::vector<Work> slots_;
};

}  // namespace

MetropolisResult metropolis_hastings(Simulator& simulator, const Observations& observations,
                                     const MetropolisOptions& options) {
  if (options.chains == 0 || options.thinning == 0 || options.samples < options.chains) {
    throw InvalidArgument(
        "chains and thinning must be at least 1, and samples at least one a chain");
  }
  const std::uint64_t per_chain = (options.samples + options.chains - 1) / options.chains;
  MetropolisResult result{
      Posterior(options.queries, per_chain * options.chains, options.keep_traces)};
  result.posterior.set_chains(options.chains);
  ChainPool chains(options, per_chain);
  if (options.resume) chains.restore(*options.resume, result.posterior);
  const OpenWindow window(options.window, [&] { return chains.state(result.posterior); });
  const Parallelism used = effective(options.parallelism, simulator, options.chains);
  on_threads(used.threads, [&](const std::atomic<bool>& cancelled) {
    const auto ensemble = simulator.ensemble(used.width);
    RunOptions run_options = options.run_options(&observations);
    run_options.cancelled = &cancelled;
    ChainTask task(options, chains, used.width, result.posterior);
    run(*ensemble, task, task, run_options);
  });
  chains.summarize(result);
  return result;
}

}  // namespace psn
