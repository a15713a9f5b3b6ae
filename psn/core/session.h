// Session: what happens to the requests of an ensemble, round by round: they are checked, weighed,
// recorded in traces and answered. run() is a loop over it; an engine that has to interfere with
// traces under way (a particle filter) is another:
//
//   for (const Pending& request : session.advance()) {
//     if (session.take(request) == Session::Taken::kChoice) session.choose({&request, 1});
//   }
//
// A request may be taken later than the round it came up in: its simulation waits until then.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "psn/core/guide.h"
#include "psn/core/rounds.h"
#include "psn/core/run_options.h"
#include "psn/core/trace.h"

namespace psn {

// Not thread-safe. Its functions throw ModelError for what a program may not do, naming the
// address.
class Session {
 public:
  // All of them must outlive it. Of the options those count that say what a trace is: seed,
  // observations, held, max_length, keep_distributions.
  Session(Ensemble& ensemble, Guide& guide, const RunOptions& options)
      : ensemble_(ensemble),
        guide_(guide),
        options_(options),
        observations_(options.observations),
        runs_(ensemble.width()) {
    if (guide.follows_loops()) ensemble.tell_of_loops();
  }

  std::size_t width() const { return runs_.size(); }
  std::size_t running() const { return running_; }  // slots with a trace under way
  // The slot's trace: so far, or as it ended, until the next one starts there.
  Trace& trace(Slot slot) { return runs_[slot].trace; }
  const Ticket& ticket(Slot slot) const { return runs_[slot].ticket; }

  // Begins a trace in a slot that has none under way.
  void start(Slot slot, const Ticket& ticket);

  // Lets the simulations go on that were started or answered, and returns the requests that came
  // up: none, if none came up for a while. The list is valid until the next call, each request in
  // it until it is answered. Inline, for above a switch of fibers every return is mispredicted.
  std::span<const Pending> advance() {
    const std::span<const Pending> all = ensemble_.advance();
    return replays_ == 0 ? all : without_replayed(all);
  }

  enum class Taken {
    kAnswered,  // evidence, tag, factor, or a choice that is nobody's: all is done
    kChoice,    // to be answered by choose()
    kFinished,  // the trace is complete, and its slot free
    kFailed,    // the simulator could not finish it; the slot is free
  };
  // Does with a request what its role says.
  Taken take(const Pending& request);
  // Has the guide choose for all of these at once.
  void choose(std::span<const Pending> requests);
  // A choice made by somebody else than the guide.
  void choose(const Pending& request, const Choice& choice);

  // The trace under way in `from` goes on in `to` as well, from where it is: with a random stream
  // of its own, which the ticket names and which nobody else may have. What was under way in `to`
  // is given up, and its requests are void. If `from` waits for an answer, so will `to`: its
  // request comes up in advance(), perhaps not in the next one, since a simulator that cannot be
  // copied is run again on the values so far. Throws InvalidArgument if `from` has no trace under
  // way, or for a guide that cannot be copied.
  void fork(Slot from, Slot to, const Ticket& ticket);

 private:
  struct Run {
    Ticket ticket;
    Trace trace;
    bool running = false;
    bool replays = false;      // runs again, on the values of the trace
    std::size_t replayed = 0;  // entries of it
    FollowedLoop loop;
  };

  std::span<const Pending> without_replayed(std::span<const Pending> all);
  bool replay(const Pending& request);
  bool hold(const Pending& request);
  void take_from_model(const Pending& request);
  void take_observation(const Pending& request);
  void take_round(const Pending& request);
  void take_computed(const Pending& request);
  bool has_own_data(const Pending& request) const;
  void take_with_gaps(const Pending& request, const Value& given);
  void hand_over(const Pending& request, const Value& given, double log_p);
  void finish(const Pending& request);
  void end(Run& run);
  // What every request comes by; used by session.cpp alone.
  inline std::optional<Value> measured(const Pending& request);
  inline void take_given(const Pending& request, const Value& given);
  inline void weigh_evidence(const Pending& request, double log_p);
  inline Entry& record(const Pending& request, const Value& value, double log_p);
  inline void check(const Pending& request) const;
  using Density = double(const Distribution&, const Value&);
  inline double density(const Pending& request, const Value& value, Density* of) const;
  inline double density(const Pending& request, const Value& value) const;
  [[noreturn]] void fail(const Pending& request, std::string_view what) const;

  Ensemble& ensemble_;
  Guide& guide_;
  const RunOptions& options_;
  ObservationLookup observations_;
  std::vector<Run> runs_;
  std::size_t running_ = 0;
  std::size_t replays_ = 0;        // how many run again
  std::vector<Pending> requests_;  // without those that were answered from a trace
  std::vector<Choice> choices_;
};

}  // namespace psn
