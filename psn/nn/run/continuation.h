// Continuation: a trace that a surrogate has begun, carried on by the simulator itself.
//
// The simulator runs through the choices made so far, is handed their values, and goes on from
// there. Nothing of the surrogate's part is drawn again: throwing it away because of where it led
// would make such beginnings too rare.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "psn/core/ensemble.h"

namespace psn {

// Not thread-safe; one trace at a time.
class Continuation {
 public:
  // The simulator must outlive it; `heartbeat` may be null.
  Continuation(Simulator& simulator, Heartbeat* heartbeat)
      : simulator_(simulator), heartbeat_(heartbeat) {}

  struct PastChoice {
    const Address* address;  // of the simulator's table
    Value value;
  };
  // False: the simulator cannot have made these choices. Throws InvalidArgument if already the
  // first one is not the simulator's, ModelError for a program with factors. Tags on the way are
  // passed over, as surrogates do.
  bool begin(const Ticket& ticket, const Rng& rng, std::span<const PastChoice> past);
  // A copy of another one: run through all that it was asked, it is asked the same next.
  void begin(const Ticket& ticket, const Rng& rng, const Continuation& other);
  // The next request, valid until the next call; its slot is 0. A simulator that failed on the way
  // through the choices so far says so here.
  Pending next();
  void answer(const Value& value) {
    ensemble_->answer(0, value);
    answers_.push_back(value);
  }

 private:
  void start(const Ticket& ticket, const Rng& rng);
  Pending next_choice();

  Simulator& simulator_;
  Heartbeat* heartbeat_;
  std::unique_ptr<Ensemble> ensemble_;  // of one; null until it is needed
  std::optional<Pending> failed_;
  std::vector<Value> answers_;  // of this trace
};

}  // namespace psn
