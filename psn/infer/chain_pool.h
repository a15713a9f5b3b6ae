// ChainPool: all Markov chains of a call, their places in the result, and what a window sees of
// them while they move. Of any kind of chain that has its options as C::Options and is known by
//   C(id, options), C(state, options), state(), id(), iteration(), accepted(), current().
#pragma once

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <vector>

#include "psn/base/error.h"
#include "psn/infer/metropolis.h"

namespace psn {

template <class C>
class ChainPool {
 public:
  using Options = typename C::Options;

  // Options and posterior must outlive it. Goes on from options.resume.
  ChainPool(const Options& options, Posterior& posterior)
      : options_(options),
        samples_(per_chain(options)),
        stride_(options.stride == 0 ? samples_ : options.stride),
        posterior_(posterior),
        places_(options.chains) {
    if (options.resume) restore(*options.resume);
  }

  // `samples` divided among the chains, rounded up; throws InvalidArgument if that cannot be.
  static std::uint64_t per_chain(const Options& options) {
    if (options.chains == 0 || options.thinning == 0 || options.samples < options.chains) {
      throw InvalidArgument(
          "chains and thinning must be at least 1, and samples at least one a chain");
    }
    return (options.samples + options.chains - 1) / options.chains;
  }
  // Room for all of them.
  static Posterior posterior(const Options& options) {
    Posterior result(options.queries, per_chain(options) * options.chains, options.keep_traces);
    result.set_chains(options.chains);
    return result;
  }

  // A chain with its lock: whoever changes what state() tells holds it.
  struct Place {
    std::mutex mutex;
    std::optional<C> chain;
    std::optional<std::size_t> last_row;  // where its current state was put
  };

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

  bool done(const C& chain) const {
    return chain.iteration() == options_.burn_in + samples_ * options_.thinning;
  }

  // After an iteration, if it moved or not: keeps every so manieth state after burn-in. With the
  // place's lock.
  void keep(Place& place, bool moved) {
    if (moved) place.last_row.reset();
    const C& chain = *place.chain;
    const std::uint64_t since = after_burn_in(chain);
    if (since == 0 || since % options_.thinning != 0) return;
    const std::uint64_t sample = since / options_.thinning - 1;
    const std::size_t row = place_of(chain) * samples_ + sample;
    if (place.last_row) {
      posterior_.put_again(row, *place.last_row);
    } else {
      posterior_.put(row, chain.current(), 0);
    }
    place.last_row = row;
    if (options_.draws) {
      options_.draws->offer(chain.id() * stride_ + sample, chain.current(), 0);
    }
  }

  EngineState state() {
    EngineState state;
    state.samples = options_.samples;
    std::vector<std::size_t> rows;
    for (Place& place : places_) {
      const std::lock_guard lock(place.mutex);
      if (!place.chain) continue;
      state.chains.push_back(place.chain->state());
      const std::uint64_t kept = after_burn_in(*place.chain) / options_.thinning;
      for (std::uint64_t i = 0; i < kept; ++i) {
        state.rows.push_back(place_of(*place.chain) * stride_ + i);
        rows.push_back(place_of(*place.chain) * samples_ + i);
      }
    }
    state.posterior = posterior_.select(rows);
    if (options_.draws) state.draws = options_.draws->serialize();
    return state;
  }

  // Once all are done.
  const std::vector<Place>& places() const { return places_; }
  double acceptance() const {  // the share of iterations after burn-in that moved
    std::uint64_t accepted = 0, after = 0;
    for (const Place& place : places_) {
      accepted += place.chain->accepted();
      after += after_burn_in(*place.chain);
    }
    return static_cast<double>(accepted) / static_cast<double>(after);
  }
  std::uint64_t iterations() const {
    std::uint64_t sum = 0;
    for (const Place& place : places_) sum += place.chain->iteration();
    return sum;
  }

 private:
  void restore(const EngineState& state) {
    if (!posterior_.same_columns(state.posterior)) {
      throw InvalidArgument("what there is has other quantities than are asked for now");
    }
    for (std::size_t k = 0; k < state.rows.size(); ++k) {
      const std::uint64_t row = state.rows[k] / stride_ * samples_ + state.rows[k] % stride_;
      posterior_.put_from(row, state.posterior, k);
    }
    if (options_.draws) {
      options_.draws->restore(Draws::parse(state.draws, "draws so far"), state.rows);
    }
    for (const ChainState& chain : state.chains) {
      places_.at(chain.id - options_.first).chain.emplace(chain, options_);
    }
  }

  std::uint64_t after_burn_in(const C& chain) const {
    return chain.iteration() - std::min(chain.iteration(), options_.burn_in);
  }
  std::size_t place_of(const C& chain) const { return chain.id() - options_.first; }

  const Options& options_;
  const std::uint64_t samples_;  // of each
  const std::uint64_t stride_;
  Posterior& posterior_;
  std::vector<Place> places_;
  std::atomic<std::uint32_t> next_{0};
};

}  // namespace psn
