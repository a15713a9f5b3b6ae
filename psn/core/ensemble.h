// Ensemble: W simulations that advance together, each to its next request. The in-process
// simulator, a pool of remote ones and a surrogate network are all ensembles, so an engine written
// against this interface runs in any of them.
//
// Simulator: whatever can be asked for ensembles.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "psn/base/rng.h"
#include "psn/core/context.h"
#include "psn/core/failure_log.h"

namespace psn {

using Slot = std::uint32_t;  // which of the W simulations

// A request of the simulation in a slot.
struct Pending : Request {
  Slot slot = 0;
  Rng* rng = nullptr;  // the random stream of that slot's trace
  // log probability of coming here from the request before, if the program draws that.
  std::optional<double> log_transition;
};

// Which trace to run next: its index, and the chain it belongs to. They select the random stream.
struct Ticket {
  std::uint64_t trace = 0;
  std::uint32_t chain = 0;
};

// Where a thread's simulations are, for watchers on other threads.
struct Heartbeat {
  std::atomic<std::uint64_t> steps{0};  // grows with every request
  std::atomic<std::uint64_t> trace{0};
  std::atomic<const Address*> last{nullptr};  // the last address that trace reached
  std::atomic<bool> running{false};           // false once the thread's work is over
};

// Not thread-safe: one ensemble belongs to one thread.
class Ensemble {
 public:
  virtual ~Ensemble() = default;
  virtual std::size_t width() const = 0;

  // Begins a run in an idle slot: at first, and after that slot's kFinish or kFail.
  virtual void start(Slot slot, const Ticket& ticket, const Rng& rng) = 0;
  // Gives the simulation what it asked for: nothing for tag, factor, an observation nobody tells.
  virtual void answer(Slot slot, const Value& value) = 0;
  // Lets the simulations that were started or answered go on, and returns the requests that came
  // up. The list is valid until the next call, what a request points to until it is answered.
  // Returns none if none came up for a while, so that the caller can look whether to stop.
  virtual std::span<const Pending> advance() = 0;

  // Gives up the run in a slot, wherever it is: the slot is idle.
  virtual void abandon(Slot slot) = 0;
  // Makes the idle slot `to` a copy of the run in `from`, but with random streams of its own: it
  // goes on from there, and if `from` waits for an answer, that request comes up in `to` as well.
  // False: it cannot be copied, but started and answered with the same values.
  virtual bool fork(Slot /*from*/, Slot /*to*/, const Ticket&, const Rng&) { return false; }

  virtual void watch(Heartbeat*) {}
  // From the next start on, programs say where their rejection loops are (Role::kRound), if they
  // can: those that run elsewhere cannot.
  virtual void tell_of_loops() {}
};

class Simulator {
 public:
  virtual ~Simulator() = default;
  virtual const std::string& name() const = 0;
  virtual AddressTable& addresses() = 0;
  virtual std::unique_ptr<Ensemble> ensemble(std::size_t width) = 0;
  // How many simulations may be under way at once in this process.
  virtual std::size_t max_simulations() const { return ~std::size_t{0}; }
  // How many threads may have an ensemble at once.
  virtual std::size_t max_threads() const { return ~std::size_t{0}; }
  // Runs of the simulator itself that have begun in all ensembles so far, whatever became of them:
  // what its owner pays for. A surrogate has none but those that go on in its simulator.
  virtual std::uint64_t runs() const { return 0; }
  // In all ensembles, since the last forget_failures().
  virtual Failures failures() const { return {}; }
  virtual void forget_failures() {}
};

}  // namespace psn
