#include "psn/core/rounds.h"

#include <cmath>
#include <iterator>

#include "psn/core/guide.h"

namespace psn {

FollowedLoop::Position FollowedLoop::position(const Trace& trace) {
  return {trace.entries.size(), trace.transitions.size(), trace.log_joint, trace.log_likelihood,
          trace.log_weight};
}

void FollowedLoop::begin(const Trace& trace, std::uint64_t n) {
  *this = {};
  open_ = true;
  start_ = position(trace);
  n_ = n;
}

void FollowedLoop::rewind(Trace& trace) const {
  trace.entries.resize(start_.entries);
  trace.transitions.resize(start_.transitions);
  trace.log_joint = start_.log_joint;
  trace.log_likelihood = start_.log_likelihood;
  trace.log_weight = start_.log_weight;
}

void FollowedLoop::keep(Trace& trace) {
  end_ = position(trace);
  const auto first = trace.entries.begin() + static_cast<std::ptrdiff_t>(start_.entries);
  entries_.assign(std::make_move_iterator(first), std::make_move_iterator(trace.entries.end()));
}

void FollowedLoop::restore(Trace& trace) {
  rewind(trace);
  trace.entries.insert(trace.entries.end(), std::make_move_iterator(entries_.begin()),
                       std::make_move_iterator(entries_.end()));
  const auto n = static_cast<double>(n_);
  const double log_q = std::log(static_cast<double>(accepted_) / n);
  const double log_rounds = std::log(static_cast<double>(rounds_) / n);
  trace.log_joint = end_.log_joint;
  trace.log_likelihood = end_.log_likelihood;
  trace.log_weight = end_.log_weight + log_q + log_rounds;
}

RoundOrder FollowedLoop::end_round(bool accepted, Trace& trace, Guide& guide, std::uint32_t slot) {
  switch (phase_) {
    case Phase::kSearch:
      if (!accepted) break;
      if (!proposes_ || n_ == 0) {  // q is p
        abandon();
        return RoundOrder::kKeepAndLeave;
      }
      guide.loop_accepts(slot);
      keep(trace);
      phase_ = Phase::kProposals;
      left_ = n_;
      rewind(trace);
      guide.loop_again(slot);
      return RoundOrder::kKeepAndAgain;
    case Phase::kProposals:
      accepted_ += accepted ? 1 : 0;
      if (--left_ > 0) break;
      phase_ = Phase::kModel;
      left_ = n_;
      break;
    case Phase::kModel:
      ++rounds_;
      if (!accepted || --left_ > 0) break;
      restore(trace);
      guide.loop_ends(slot);
      abandon();
      return RoundOrder::kLeave;
  }
  rewind(trace);
  guide.loop_again(slot);
  return RoundOrder::kAgain;
}

}  // namespace psn
