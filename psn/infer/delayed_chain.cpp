#include "psn/infer/delayed_chain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "psn/base/error.h"
#include "psn/base/numerics.h"
#include "psn/infer/replay.h"

namespace psn {
namespace {

constexpr std::uint64_t kWarmUp = 1'000;  // steps inside the first surrogate before the first run
constexpr double kFirstMoves = 10;
constexpr double kAcceptance = 0.4;                 // that moves adapt to
constexpr std::uint64_t kAlongside = 0x616c6f6e67;  // purpose of the random stream

// The streams of a chain at a level; those of level 0 are a Metropolis-Hastings chain's.
std::uint32_t substream(std::uint32_t chain, std::size_t level) {
  return (chain + 1) | static_cast<std::uint32_t>(level) << 24;
}

}  // namespace

DelayedChain::DelayedChain(std::uint32_t id, const DelayedOptions& options)
    : options_(options),
      kernel_(id, options),
      rungs_(options.surrogates.size()),
      decisions_(options.seed, kDecisionStream, substream(id, options.surrogates.size())) {
  const double most = static_cast<double>(options.most_moves);
  for (Rung& rung : rungs_) {
    rung.state.id = id;
    rung.state.delayed.log_moves = std::log(std::min(kFirstMoves, most));
  }
}

DelayedChain::DelayedChain(const ChainState& state, const DelayedOptions& options)
    : options_(options),
      kernel_(state.below.at(0), options),
      rungs_(options.surrogates.size()),
      decisions_(options.seed, kDecisionStream, substream(state.id, options.surrogates.size())) {
  for (std::size_t level = 1; level < rungs_.size(); ++level) {
    rung(level).state = state.below.at(level);
  }
  rungs_.back().state = state;
  rungs_.back().state.below.clear();
  decisions_.move_to(state.decisions);
}

std::vector<ChainState> DelayedChain::below() const {
  std::vector<ChainState> states{kernel_.state()};
  for (std::size_t level = 1; level < rungs_.size(); ++level) {
    states.push_back(rung(level).state);
  }
  return states;
}

ChainState DelayedChain::state() const {
  ChainState state = top().state;
  state.decisions = before_ ? before_->decisions : decisions_.position();
  state.below = before_ ? before_->below : below();
  return state;
}

void DelayedChain::begin(std::size_t level) {
  Rung& here = rung(level);
  here.fresh = false;
  if (level == rungs_.size()) {
    before_ = {decisions_.position(), below()};
    here.fresh = decisions_.uniform() < options_.fresh_share;
  }
  here.descends = !here.fresh && (!here.state.started || here.state.delayed.alongside);
  if (here.descends) remember(level);
}

std::uint64_t DelayedChain::moves(std::size_t level) const {
  const Rung& here = rung(level);
  if (!here.descends) return 0;
  if (level == 1 && !kernel_.started()) return kWarmUp;
  return static_cast<std::uint64_t>(std::llround(std::exp(here.state.delayed.log_moves)));
}

bool DelayedChain::runs(std::size_t level) const {
  const bool below = level == 1 ? kernel_.started() : rung(level - 1).state.started;
  return rung(level).fresh || (rung(level).descends && below);
}

Ticket DelayedChain::ticket(std::size_t level) const {
  return {rung(level).state.runs, substream(id(), level)};
}

const Trace* DelayedChain::followed(std::size_t level) const {
  return rung(level).fresh ? nullptr : &trace(level - 1);
}

double DelayedChain::log_weight(std::size_t level, const Trace& run) const {
  const Trace& below = trace(level - 1);
  return log_density(run) - log_density(below) - below.log_transitions();
}

bool DelayedChain::finish(std::size_t level, Trace* run) {
  Rung& here = rung(level);
  ChainState& state = here.state;
  const bool ran = runs(level);
  const Ticket run_ticket = ticket(level);
  state.runs += ran ? 1 : 0;
  double log_w = -kInfinity, log_ratio = -kInfinity;
  if (run && here.fresh) {
    log_ratio = run->log_likelihood - (state.started ? state.current.log_likelihood : 0);
  } else if (run && run->log_weight > -kInfinity && same_path(*run, trace(level - 1))) {
    log_w = log_weight(level, *run);
    log_ratio = log_w - (state.started ? state.delayed.log_weight : 0);
  }
  if (adapts() && state.started && ran && here.descends) {
    ChainState::Delayed& d = state.delayed;
    d.adapted += 1;
    d.log_moves +=
        (std::min(1.0, std::exp(log_ratio)) - kAcceptance) * 2 * std::pow(d.adapted, -0.6);
    d.log_moves = std::clamp(d.log_moves, 0.0, std::log(static_cast<double>(options_.most_moves)));
  }
  const bool started = state.started;
  const bool moved =
      started ? ran && std::log(decisions_.uniform()) < log_ratio : log_ratio > -kInfinity;
  if (moved) {
    std::swap(state.current, *run);
    state.started = true;
    state.delayed.log_weight = log_w;
    if (here.fresh) follow_from_below(run_ticket);
  } else if (started && here.descends) {
    go_back(level);
  }
  if (level < rungs_.size()) return moved;
  before_.reset();
  if (started) {
    count(ran && here.descends, log_w, moved);
  } else if (!moved && ++state.attempts == options_.start_attempts) {
    throw ModelError(fmt::format(
        "chain {} found no state to start from in {} runs of the simulator: the surrogate's "
        "posterior leads to none that is possible",
        state.id, options_.start_attempts));
  }
  return moved;
}

// An iteration of the simulator's chain is over.
void DelayedChain::count(bool weighed, double log_weight, bool moved) {
  ChainState& state = rungs_.back().state;
  ChainState::Delayed& d = state.delayed;
  ++state.iteration;
  d.stay = moved ? 0 : d.stay + 1;
  if (state.iteration <= options_.burn_in) return;
  d.longest = std::max(d.longest, d.stay);
  state.accepted += moved ? 1 : 0;
  if (weighed) d.log_weights.push_back(log_weight);
}

void DelayedChain::remember(std::size_t level) {
  Rung& here = rung(level);
  here.traces.clear();
  here.log_weights.clear();
  for (std::size_t l = 0; l < level; ++l) {
    here.traces.push_back(trace(l));
    here.log_weights.push_back(l == 0 ? 0 : rung(l).state.delayed.log_weight);
  }
}

void DelayedChain::go_back(std::size_t level) {
  Rung& here = rung(level);
  kernel_.move_to(std::move(here.traces[0]));
  for (std::size_t l = 1; l < level; ++l) {
    rung(l).state.current = std::move(here.traces[l]);
    rung(l).state.delayed.log_weight = here.log_weights[l];
  }
}

// The levels below go where a whole new run went, if all of them can.
void DelayedChain::follow_from_below(const Ticket& ticket) {
  const Trace& run = current();
  std::vector<Trace> traces;
  for (std::size_t level = 0; level < rungs_.size(); ++level) {
    Rng rng = Rng(options_.seed, ticket.trace, ticket.chain).fork(kAlongside + level);
    auto found = options_.surrogates[level].alongside(run, rng);
    rungs_.back().state.delayed.alongside = found.has_value();
    if (!found) return;
    traces.push_back(std::move(*found));
  }
  kernel_.move_to(std::move(traces[0]));
  for (std::size_t level = 1; level <= rungs_.size(); ++level) {
    ChainState& state = rung(level).state;
    if (level < rungs_.size()) state.current = std::move(traces[level]);
    state.started = true;
    state.delayed.log_weight = log_weight(level, state.current);
  }
}

}  // namespace psn
