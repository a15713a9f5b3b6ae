// An inference that is not finished, as it lies beside the folder of its results: r.unfinished for
// r. And what is in that folder already, which is not written over if it is of something else.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "psn/core/ensemble.h"
#include "psn/core/observations.h"
#include "psn/infer/engine_state.h"
#include "psn/io/file_lock.h"
#include "psn/ranks/communicator.h"

namespace psn::services {

class UnfinishedInference {
 public:
  // `out`: of --out; empty: nothing is kept. `config`: the command's effective configuration.
  // Throws DataError if another process is at work there; InvalidArgument if there are results of
  // another model or other observations.
  UnfinishedInference(const std::string& out, std::string config, std::string observed,
                      const Communicator& ranks);

  // What is there to go on from; null: nothing. Throws InvalidArgument if something is there but
  // nobody asked to resume, if it was begun with other options or observations, or if all is
  // finished; DataError if it is damaged.
  const EngineState* open(bool resume, Simulator& simulator);
  double seconds() const { return seconds_; }             // that went into it
  const Failures& failures() const { return failures_; }  // of the simulator, till then
  std::uint64_t runs() const { return runs_; }            // of it

  // What the window shows, and says so: "; 'r.unfinished' has ...", to end a message with.
  // `runs`: of the simulator, since then.
  std::string save(const EngineWindow& window, const Simulator& simulator, std::uint64_t runs);
  void finish();

 private:
  void check_results() const;

  const bool alone_;  // of all ranks
  std::string path_;  // empty: nothing is kept
  std::string out_, config_, observed_;
  std::optional<FileLock> lock_;
  std::optional<EngineState> begun_;
  double seconds_ = 0;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  Failures failures_;
  std::uint64_t runs_ = 0;
};

}  // namespace psn::services
