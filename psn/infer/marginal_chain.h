// One pseudo-marginal chain: its state, and that of the chain inside the surrogate, if there is
// one.
#pragma once

#include <optional>
#include <vector>

#include "psn/infer/parameter_walk.h"
#include "psn/infer/pseudo_marginal.h"

namespace psn {

// theta with its estimate, in one simulator.
struct MarginalState {
  ChainState kept;  // started, current trace, log P as its weight, runs, attempts
  ParameterValues at;
  double log_prior = 0;
  ParameterWalk walk;
  // Of the estimates: how many runs they take, how noisy they are.
  double log_runs = 0, updates = 0, variance = 0;
  // The walk knows the prior: what that makes unlikely is not run.
  bool screens = true;

  double log_estimate() const { return kept.delayed.log_weight; }
};

// An iteration: begin(); for each of moves() an estimate inside the surrogate, propose() and, if
// there is one to make, finish(); then, if it runs(), one in the simulator, likewise; then, if it
// follows(), one more in the surrogate, at the place where the chain went; then end().
class MarginalChain {
 public:
  using Options = MarginalOptions;
  enum class Level : std::uint8_t { kSurrogate, kSimulator };

  MarginalChain(std::uint32_t id, const MarginalOptions& options);
  MarginalChain(const ChainState& state, const MarginalOptions& options);

  std::uint32_t id() const { return top_.kept.id; }
  std::uint64_t iteration() const { return top_.kept.iteration; }
  std::uint64_t accepted() const { return top_.kept.accepted; }
  const Trace& current() const { return top_.kept.current; }
  // As it was before the iteration that is under way, if there is one.
  ChainState state() const { return before_ ? *before_ : whole_state(); }

  double moves_for_one() const;
  std::uint64_t runs_for_one() const { return runs_of(top_, Level::kSimulator); }
  double variance() const { return top_.variance; }
  std::uint64_t longest_stay() const { return top_.kept.delayed.longest; }

  void begin();
  std::uint64_t moves() const;
  bool runs() const;
  bool follows() const { return follows_; }
  // The estimate to be made next at a level; null: the proposal is rejected without one.
  MarginalEstimate* propose(Level level);
  MarginalEstimate* follow();
  // Accepts or rejects it.
  void finish(Level level);
  void finish_following();
  bool end();  // true: the iteration moved the chain

 private:
  bool has_surrogate() const { return options_.surrogate != nullptr; }
  bool adapts() const { return iteration() < options_.burn_in; }
  ChainState whole_state() const;
  MarginalState& at(Level level) { return level == Level::kSimulator ? top_ : inner_; }
  std::uint64_t runs_of(const MarginalState& state, Level level) const;
  MarginalEstimate* estimate_at(Level level, ParameterValues values);
  bool walks(Level level) const;
  double log_screen(const MarginalState& state, const ParameterValues& at) const;
  double log_ratio(Level level) const;
  void settle(Level level);
  void adapt_runs(MarginalState& state);
  void adapt_moves(double log_ratio);
  void count_attempt(MarginalState& state, Level level) const;

  const MarginalOptions& options_;
  const ParameterNames parameters_;
  MarginalState top_, inner_;
  Rng decisions_;
  std::optional<ChainState> before_;

  // Of the iteration under way.
  bool fresh_ = false, descends_ = false, follows_ = false, moved_ = false;
  MarginalState inner_before_;
  MarginalEstimate estimate_;
  double log_screened_ = 0;  // how much likelier the walk's proposal is by the prior
};

}  // namespace psn
