// Data sets drawn from a model, and the same inference of each: what calibration and criticism
// repeat. Data sets side by side on threads, each inference on one. Internal header of the
// services.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "psn/core/observations.h"
#include "psn/core/run.h"
#include "psn/io/file_lock.h"
#include "psn/nn/run/executor.h"
#include "psn/services/host.h"
#include "psn/services/simulators.h"

namespace psn::services {

struct Dataset {
  Trace truth;                // empty: of data that were measured
  Observations observations;  // by address
};
// What of a choice is observed, which a component may be missing of (NaN); nullopt: nothing.
using ObservationFilter = std::function<std::optional<Value>(const Entry&)>;
// The model's observations, all of them.
std::optional<Value> any_observation(const Entry& entry);
// With their distributions. Runs that fail are left out, so there may be fewer.
std::vector<Dataset> draw_datasets(Simulator& model, std::uint64_t count,
                                   const SimulationOptions& options, Host& host,
                                   const ObservationFilter& observed = any_observation);

// How each is inferred.
struct RepeatedInference {
  Simulator& simulator;
  std::shared_ptr<const CompiledNetwork> network;  // null: proposals from the prior
  bool weighted = true;                            // false: the network's draws as they are
  std::uint64_t draws = 1000;
  std::uint64_t seed = 0;
  std::size_t max_length = 1'000'000;
  std::size_t width = 64;
  bool keep_distributions = false;
  Monitor* monitor = nullptr;

  // sink(draw, trace, log weight), in no order, on the calling thread; -inf for those that failed,
  // whose trace is empty. `number`: of the data set.
  using Sink = std::function<void(std::uint64_t, Trace&, double)>;
  void run(std::uint64_t number, const Observations& observations, const Sink& sink) const;
};

// A row of numbers for each of some pieces of work, which may be interrupted and go on: what is
// there is kept beside the folder of the results, as "DIR.unfinished". Rows may be put by several
// threads at once.
class UnfinishedRows {
 public:
  // `kind`: of what; empty `out`: nothing is kept. Goes on with what is there if `resume`. Throws
  // InvalidArgument if something is there but nobody asked to resume, or if it was begun with other
  // options (`config`); DataError if it is damaged or another process is at work there.
  UnfinishedRows(std::string kind, const std::string& out, std::string config, bool resume);

  // Before any work: how many rows of which width there will be.
  void expect(std::size_t rows, std::size_t width);
  bool has(std::size_t row) const { return !rows_[row].empty(); }
  std::size_t there() const;
  void put(std::size_t row, std::vector<double> values);
  const std::vector<double>& operator[](std::size_t row) const { return rows_[row]; }

  // "; 'r.unfinished' has ...", to end a message with.
  std::string save() const;
  void finish();

 private:
  void load();

  std::string kind_, path_, config_;
  std::optional<FileLock> lock_;
  mutable std::mutex mutex_;
  std::vector<std::vector<double>> rows_, begun_;
};

// Calls work(i) for each row that is not there and puts what it returns. Throws InterruptedWork
// when the host says stop, with what is there saved.
void fill_rows(UnfinishedRows& rows, std::size_t count, std::size_t threads,
               const std::function<std::vector<double>(std::size_t)>& work);

}  // namespace psn::services
