// Guide: answers the sample requests of an ensemble, all that are pending at once. The prior, the
// replay of a trace and an inference network differ in nothing else.
#pragma once

#include <optional>
#include <span>

#include "psn/core/ensemble.h"

namespace psn {

struct Choice {
  Value value;
  // log q(value) of the proposal it was drawn from; nullopt: drawn from the model's own
  // distribution, so that log q = log p.
  std::optional<double> log_q;
};

// Not thread-safe: each thread has its own.
class Guide {
 public:
  virtual ~Guide() = default;
  // A trace begins in a slot.
  virtual void begin(Slot, const Ticket&) {}
  // Fills choices[i] for requests[i]. Only controlled samples come here, without those given.
  virtual void choose(std::span<const Pending> requests, std::span<Choice> choices) = 0;
  // A controlled sample took a value that was given: nothing to choose, but something to know.
  virtual void given(const Pending&, const Value&) {}
  // A value to use again where the model would be drawn from: at an uncontrolled sample, or an
  // observation that nobody gave. nullptr: draw.
  virtual const Value* replay(const Pending&) { return nullptr; }
  // Whether it follows rejection loops (rounds.h): each round begins as if none had been before. If
  // so, by how many rounds and loops it wants estimates; 0: it proposes nothing, so that none are
  // needed.
  virtual std::optional<std::uint64_t> follows_loops() const { return std::nullopt; }
  virtual void loop_begins(Slot) {}   // remember this
  virtual void loop_again(Slot) {}    // back there
  virtual void loop_accepts(Slot) {}  // remember this
  virtual void loop_ends(Slot) {}     // back there
  // The trace in slot `from` goes on in slot `to` as well. Throws InvalidArgument: this guide
  // cannot follow.
  virtual void fork(Slot from, Slot to, const Ticket& ticket);
};

// Draws from the model itself.
class PriorGuide : public Guide {
 public:
  // `follows`: of rejection loops, the traces have the accepted rounds alone.
  explicit PriorGuide(bool follows = false) : follows_(follows) {}

  std::optional<std::uint64_t> follows_loops() const override {
    return follows_ ? std::optional<std::uint64_t>(0) : std::nullopt;
  }
  void choose(std::span<const Pending> requests, std::span<Choice> choices) override {
    for (std::size_t i = 0; i < requests.size(); ++i) {
      choices[i] = {requests[i].distribution->draw(*requests[i].rng), std::nullopt};
    }
  }
  void fork(Slot, Slot, const Ticket&) override {}

 private:
  bool follows_;
};

}  // namespace psn
