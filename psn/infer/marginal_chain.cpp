#include "psn/infer/marginal_chain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "psn/base/error.h"
#include "psn/base/numerics.h"
#include "psn/infer/chain.h"

namespace psn {
namespace {

constexpr std::uint64_t kFirstSteps = 200;  // inside the surrogate, before the simulator's first
constexpr double kFirstStepsForOne = 10, kFirstRuns = 10;
constexpr double kTargetAcceptance = 0.3, kTargetVariance = 1.5;
constexpr double kExactVariance = 0.05;  // of two runs: one is enough
constexpr double kFarBelow = 5;          // nats: noise there does not matter
constexpr double kOtherPrior = 1;        // nats
constexpr std::size_t kOwnNumbers = 5;   // of a state, besides its walk's

std::uint32_t stream_of(std::uint32_t chain, MarginalChain::Level level) {
  return (chain + 1) | static_cast<std::uint32_t>(level) << 24;
}

std::vector<Value> values_at(const ParameterValues& parameters) {
  std::vector<Value> values;
  for (const ParameterValue& p : parameters) values.push_back(p.value);
  return values;
}

ChainState with_numbers(const MarginalState& state) {
  ChainState kept = state.kept;
  kept.marginal = state.walk.numbers();
  kept.marginal.insert(kept.marginal.end(), {state.log_prior, state.log_runs, state.updates,
                                             state.variance, state.screens ? 1.0 : 0.0});
  return kept;
}

MarginalState without_numbers(const ChainState& kept, const ParameterNames& parameters) {
  MarginalState state{.kept = kept};
  const std::span<const double> all = kept.marginal;
  if (all.size() < kOwnNumbers) throw DataError("too few numbers of a chain");
  state.walk = ParameterWalk(all.first(all.size() - kOwnNumbers));
  const std::span<const double> last = all.last(kOwnNumbers);
  state.log_prior = last[0];
  state.log_runs = last[1];
  state.updates = last[2];
  state.variance = last[3];
  state.screens = last[4] != 0;
  state.at = parameters.in(kept.current);
  state.kept.below.clear();
  state.kept.marginal.clear();
  return state;
}

}  // namespace

MarginalChain::MarginalChain(std::uint32_t id, const MarginalOptions& options)
    : options_(options),
      parameters_(options.parameters),
      decisions_(options.seed, kDecisionStream, stream_of(id, Level::kSimulator)) {
  for (MarginalState* state : {&top_, &inner_}) {
    state->kept.id = id;
    state->log_runs = std::log(std::min(kFirstRuns, static_cast<double>(options.most_runs)));
  }
  top_.kept.delayed.log_moves =
      std::log(std::min(kFirstStepsForOne, static_cast<double>(options.most_moves)));
}

MarginalChain::MarginalChain(const ChainState& state, const MarginalOptions& options)
    : MarginalChain(state.id, options) {
  top_ = without_numbers(state, parameters_);
  if (has_surrogate()) inner_ = without_numbers(state.below.at(0), parameters_);
  decisions_.move_to(state.decisions);
}

ChainState MarginalChain::whole_state() const {
  ChainState state = with_numbers(top_);
  state.decisions = decisions_.position();
  state.runs_for_one = runs_for_one();
  if (has_surrogate()) state.below = {with_numbers(inner_)};
  return state;
}

double MarginalChain::moves_for_one() const {
  return has_surrogate() ? std::exp(top_.kept.delayed.log_moves) : 0;
}

std::uint64_t MarginalChain::runs_of(const MarginalState& state, Level level) const {
  const auto wanted = static_cast<std::uint64_t>(std::llround(std::exp(state.log_runs)));
  if (!adapts() || options_.burn_in_runs == 0 || level == Level::kSurrogate) return wanted;
  const std::uint64_t left =
      options_.burn_in_runs - std::min(options_.burn_in_runs, state.kept.runs);
  return std::min(wanted, std::max<std::uint64_t>(2, left / (options_.burn_in - iteration())));
}

void MarginalChain::begin() {
  before_ = whole_state();
  const ChainState& kept = top_.kept;
  moved_ = follows_ = false;
  fresh_ = kept.started ? decisions_.uniform() < options_.fresh_share : !has_surrogate();
  descends_ = has_surrogate() && !fresh_ && (!kept.started || kept.delayed.alongside);
  if (descends_) inner_before_ = inner_;
}

std::uint64_t MarginalChain::moves() const {
  if (!descends_) return 0;
  return inner_.kept.started ? static_cast<std::uint64_t>(std::llround(moves_for_one()))
                             : kFirstSteps;
}

bool MarginalChain::runs() const {
  return fresh_ || (descends_ ? inner_.kept.started : !has_surrogate());
}

MarginalEstimate* MarginalChain::estimate_at(Level level, ParameterValues values) {
  MarginalState& state = at(level);
  estimate_ = {};
  estimate_.at = std::move(values);
  estimate_.runs = runs_of(state, level);
  estimate_.first = {state.kept.runs, stream_of(id(), level)};
  estimate_.strict = level == Level::kSimulator && !descends_;
  estimate_.same_prior = options_.fresh_share > 0;
  return &estimate_;
}

bool MarginalChain::walks(Level level) const {
  if (level == Level::kSurrogate) return inner_.kept.started;
  return top_.kept.started && !fresh_ && !descends_;
}

double MarginalChain::log_screen(const MarginalState& state, const ParameterValues& at) const {
  return state.screens ? state.walk.log_prior(values_at(at)) : 0;
}

// A walk's proposal is accepted in two stages: by the prior first, which costs no run, and then by
// the estimates, the first stage divided out (delayed acceptance; whatever the first stage is).
MarginalEstimate* MarginalChain::propose(Level level) {
  MarginalState& state = at(level);
  if (level == Level::kSimulator && descends_) return estimate_at(level, inner_.at);
  if (!walks(level)) return estimate_at(level, {});
  ParameterWalk::Step step = state.walk.propose(values_at(state.at), decisions_);
  ParameterValues to = state.at;
  for (std::size_t i = 0; i < to.size(); ++i) to[i].value = std::move(step.to[i]);
  log_screened_ = log_screen(state, to) - log_screen(state, state.at);
  if (std::log(decisions_.uniform()) < log_screened_ + step.log_ratio) {
    return estimate_at(level, std::move(to));
  }
  if (adapts()) state.walk.adapt(0, values_at(state.at));
  return nullptr;
}

MarginalEstimate* MarginalChain::follow() {
  return estimate_at(Level::kSurrogate, top_.at);
}

// log of what accepts, the last estimate's against the state's.
double MarginalChain::log_ratio(Level level) const {
  const MarginalState& state = level == Level::kSimulator ? top_ : inner_;
  const double log_p = estimate_.dead ? -kInfinity : estimate_.log_mean();
  if (log_p == -kInfinity) return -kInfinity;
  if (!state.kept.started) return 0;
  const double ratio = log_p - state.log_estimate();
  if (walks(level)) return ratio - log_screened_;
  if (fresh_) return ratio - estimate_.log_prior + state.log_prior;
  return ratio - inner_.log_estimate() + inner_before_.log_estimate();
}

void MarginalChain::settle(Level level) {
  MarginalState& state = at(level);
  if (state.walk.empty() && !estimate_.priors.empty()) {
    std::vector<std::string> names;
    for (const ParameterValue& p : estimate_.at) names.push_back(p.address->text);
    state.walk = ParameterWalk(estimate_.priors, names);
  }
  state.kept.started = true;
  state.kept.delayed.log_weight = estimate_.log_mean();
  std::swap(state.kept.current, estimate_.chosen);
  state.at = std::move(estimate_.at);
  state.log_prior = estimate_.log_prior;
}

void MarginalChain::adapt_runs(MarginalState& state) {
  if (estimate_.dead) return;
  if (state.kept.started && estimate_.log_mean() < state.log_estimate() - kFarBelow) return;
  const std::optional<double> variance = estimate_.log_variance();
  if (!variance) return;
  state.updates += 1;
  state.variance += (*variance - state.variance) * std::max(0.02, 1 / state.updates);
  if (!adapts()) return;
  state.log_runs +=
      std::clamp(*variance / kTargetVariance - 1, -1.0, 4.0) * std::pow(state.updates + 10, -0.6);
  const double most = std::log(static_cast<double>(options_.most_runs));
  state.log_runs = std::clamp(state.log_runs, std::min(std::log(2.0), most), most);
}

void MarginalChain::adapt_moves(double ratio) {
  ChainState::Delayed& d = top_.kept.delayed;
  d.adapted += 1;
  d.log_moves +=
      (std::min(1.0, std::exp(ratio)) - kTargetAcceptance) * 2 * std::pow(d.adapted, -0.6);
  d.log_moves = std::clamp(d.log_moves, 0.0, std::log(static_cast<double>(options_.most_moves)));
}

void MarginalChain::finish(Level level) {
  MarginalState& state = at(level);
  const bool started = state.kept.started;
  const double ratio = log_ratio(level);
  const bool accepted = started ? std::log(decisions_.uniform()) < ratio : ratio > -kInfinity;
  state.kept.runs += estimate_.made;
  adapt_runs(state);
  if (adapts() && !estimate_.dead && !state.walk.empty()) {
    const double known = state.walk.log_prior(values_at(estimate_.at));
    state.screens &= std::abs(known - estimate_.log_prior) < kOtherPrior;
  }
  const bool walked = walks(level);
  if (accepted) {
    settle(level);
  } else if (!started && level == Level::kSurrogate) {
    count_attempt(state, level);
  } else if (started && level == Level::kSimulator && descends_) {
    inner_.kept.current = std::move(inner_before_.kept.current);
    inner_.kept.delayed.log_weight = inner_before_.log_estimate();
    inner_.at = std::move(inner_before_.at);
    inner_.log_prior = inner_before_.log_prior;
  }
  if (walked && adapts()) {
    state.walk.adapt(std::min(1.0, std::exp(ratio)), values_at(state.at));
  }
  if (level == Level::kSurrogate) return;
  if (started && descends_ && adapts()) adapt_moves(ratio);
  moved_ = accepted;
  follows_ = accepted && fresh_ && has_surrogate();
}

void MarginalChain::finish_following() {
  inner_.kept.runs += estimate_.made;
  follows_ = false;
  const bool possible = !estimate_.dead && estimate_.log_mean() > -kInfinity;
  top_.kept.delayed.alongside = possible;
  if (possible) settle(Level::kSurrogate);
}

bool MarginalChain::end() {
  const bool started = before_->started;
  before_.reset();
  if (!started) {
    if (!moved_) count_attempt(top_, Level::kSimulator);
    return moved_;
  }
  ChainState& kept = top_.kept;
  ChainState::Delayed& d = kept.delayed;
  ++kept.iteration;
  d.stay = moved_ ? 0 : d.stay + 1;
  if (kept.iteration == options_.burn_in && top_.variance < kExactVariance && runs_for_one() == 2) {
    top_.log_runs = 0;
  }
  if (kept.iteration > options_.burn_in) {
    d.longest = std::max(d.longest, d.stay);
    kept.accepted += moved_ ? 1 : 0;
  }
  return moved_;
}

void MarginalChain::count_attempt(MarginalState& state, Level level) const {
  if (++state.kept.attempts < options_.start_attempts) return;
  throw ModelError(fmt::format(
      "chain {} found no parameters under which {} can have made the observations in {} attempts",
      id(), level == Level::kSurrogate ? "the surrogate" : "the model", state.kept.attempts));
}

}  // namespace psn
