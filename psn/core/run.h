// run(): traces of an ensemble, one after the other in each slot. A session weighs, records and
// answers, a guide chooses, and finished traces go to a task.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "psn/core/guide.h"
#include "psn/core/run_options.h"
#include "psn/core/trace.h"

namespace psn {

// What a run is for: which traces to start, and what becomes of finished ones. Each thread has its
// own task.
class Task {
 public:
  virtual ~Task() = default;
  // The next trace for an idle slot; nullopt: none, ever again.
  virtual std::optional<Ticket> next(Slot slot) = 0;
  // The trace may be moved from or swapped; it is cleared afterwards.
  virtual void finished(Slot slot, const Ticket& ticket, Trace& trace) = 0;
  // The simulation could not be finished. A task that does not know what to do then gives up.
  virtual void failed(Slot slot, const Ticket& ticket);
};

// Until the task has no more traces. Throws ModelError for what a program may not do, naming the
// address; Interrupted if the monitor says stop.
void run(Ensemble& ensemble, Guide& guide, Task& task, const RunOptions& options);

// How many simulations side by side on how many threads; results depend on neither.
struct Parallelism {
  std::size_t width = 64;   // W, on each thread
  std::size_t threads = 0;  // T; 0: one per core
};

// Cut down to what the simulator and `work` (number of independent runs) allow.
Parallelism effective(const Parallelism& wanted, const Simulator& simulator, std::uint64_t work);

// Runs the traces [first, first + count) under guides made by `make_guide` (one a thread) and calls
// sink(index, trace) for each, from several threads at once, in no particular order.
using GuideFactory = std::function<std::unique_ptr<Guide>()>;
using TraceSink = std::function<void(std::uint64_t index, Trace& trace)>;
void run_traces(Simulator& simulator, std::uint64_t count, const GuideFactory& make_guide,
                const TraceSink& sink, const RunOptions& options, const Parallelism& parallelism);

// Calls work(cancelled) on each of `threads` threads. When one fails, `cancelled` becomes true for
// the others; the first error, by thread number, is rethrown once all have returned.
void on_threads(std::size_t threads,
                const std::function<void(const std::atomic<bool>& cancelled)>& work);

}  // namespace psn
