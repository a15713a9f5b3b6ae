// One chain of delayed acceptance: a Metropolis-Hastings chain inside the first surrogate (level
// 0), and above it a rung for every other surrogate and, on top, for the simulator.
#pragma once

#include <cmath>
#include <vector>

#include "psn/infer/chain.h"
#include "psn/infer/delayed_acceptance.h"

namespace psn {

// A move at a level: begin(), as many moves() of the level below, then, if it runs(), one run there
// that follows followed(), and last finish().
class DelayedChain {
 public:
  using Options = DelayedOptions;

  DelayedChain(std::uint32_t id, const DelayedOptions& options);
  DelayedChain(const ChainState& state, const DelayedOptions& options);

  // The simulator's.
  std::uint32_t id() const { return top().state.id; }
  std::uint64_t iteration() const { return top().state.iteration; }
  std::uint64_t accepted() const { return top().state.accepted; }
  const Trace& current() const { return top().state.current; }
  const ChainState::Delayed& delayed() const { return top().state.delayed; }
  // As it was before the iteration that is under way, if there is one.
  ChainState state() const;

  // Moves of the level below for one of this, as they are adapted so far.
  double adapted_moves(std::size_t level) const {
    return std::exp(rung(level).state.delayed.log_moves);
  }

  Chain& kernel() { return kernel_; }
  bool adapts() const { return iteration() < options_.burn_in; }

  void begin(std::size_t level);
  std::uint64_t moves(std::size_t level) const;
  bool runs(std::size_t level) const;
  Ticket ticket(std::size_t level) const;
  const Trace* followed(std::size_t level) const;  // null: none, a whole new run
  // Accepts or rejects a run; null: there was none, or it could not be finished. True: it moved.
  bool finish(std::size_t level, Trace* run);

 private:
  struct Rung {
    ChainState state;
    // Of the move under way.
    bool fresh = false;     // a whole new run
    bool descends = false;  // through the levels below, which were here before:
    std::vector<Trace> traces;
    std::vector<double> log_weights;
  };
  struct Before {  // the iteration
    std::uint64_t decisions;
    std::vector<ChainState> below;
  };

  Rung& rung(std::size_t level) { return rungs_[level - 1]; }
  const Rung& rung(std::size_t level) const { return rungs_[level - 1]; }
  const Rung& top() const { return rungs_.back(); }
  const Trace& trace(std::size_t level) const {
    return level == 0 ? kernel_.current() : rung(level).state.current;
  }
  std::vector<ChainState> below() const;
  void remember(std::size_t level);
  void go_back(std::size_t level);
  void follow_from_below(const Ticket& ticket);
  double log_weight(std::size_t level, const Trace& run) const;
  void count(bool weighed, double log_weight, bool moved);

  const DelayedOptions& options_;
  Chain kernel_;
  std::vector<Rung> rungs_;
  Rng decisions_;
  std::optional<Before> before_;  // of the iteration under way
};

}  // namespace psn
