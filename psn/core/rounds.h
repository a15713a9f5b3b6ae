// Rejection loops (Context::until): what a program and whoever follows it say to each other at the
// end of each round, and what becomes of the rounds.
//
// A loop that draws z until accept(z) holds has the law p(z) [A] / p(A). A guide that draws every
// round from q, and so the accepted one from q(z) [A] / q(A), may follow the loop: the accepted
// round alone is then kept in the trace, with the weight p(z) / q(z) times q(A) / p(A) (amortised
// rejection sampling; Naderiparizi et al. 2022). Both factors of the last are estimated without
// bias and independently, by more rounds of which nothing is kept: q(A) by the share of n draws of
// q that are accepted, 1 / p(A) by the mean number of rounds that n loops of the model take.
// Written out, every rejected round would be a factor of the weight.
//
// A guide that follows no loops is not told of them, and the trace has all rounds.
#pragma once

#include <cstdint>

#include "psn/core/trace.h"

namespace psn {

class Guide;

// What a program says: the value of a request of role kRound.
enum class RoundMark : std::uint8_t { kLoop, kRejected, kAccepted };  // a loop begins, a round ends
// What it is told. Nothing: the loop is not followed.
enum class RoundOrder : std::uint8_t {
  kAgain,         // another round, as if there had been none
  kKeepAndAgain,  // the same, but this round's is what the loop returns
  kKeepAndLeave,  // the loop returns this round's
  kLeave,         // the loop returns what was kept
};

// A followed loop of one trace. Not thread-safe.
class FollowedLoop {
 public:
  bool open() const { return open_; }
  // The choices of this round are the model's, whatever the guide would say.
  bool draws_from_model() const { return phase_ == Phase::kModel; }
  void chose(bool proposed) { proposes_ |= proposed; }

  // The loop begins, where the trace is now; n rounds and loops are to estimate with.
  void begin(const Trace& trace, std::uint64_t n);
  // A round is over. The guide is told to go back, or on.
  RoundOrder end_round(bool accepted, Trace& trace, Guide& guide, std::uint32_t slot);
  void abandon() { *this = {}; }

 private:
  enum class Phase : std::uint8_t { kSearch, kProposals, kModel };
  struct Position {
    std::size_t entries = 0, transitions = 0;
    double log_joint = 0, log_likelihood = 0, log_weight = 0;
  };
  static Position position(const Trace& trace);
  void rewind(Trace& trace) const;
  void keep(Trace& trace);
  void restore(Trace& trace);

  bool open_ = false;
  bool proposes_ = false;  // some choice was none of the model's
  Phase phase_ = Phase::kSearch;
  Position start_;
  std::uint64_t n_ = 0, left_ = 0, accepted_ = 0, rounds_ = 0;
  // The accepted round.
  std::vector<Entry> entries_;
  Position end_;
};

}  // namespace psn
