// What an engine has made so far, and all that it needs to go on to the very result that it would
// have had without a break.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "psn/core/posterior.h"
#include "psn/core/trace.h"
#include "psn/io/tensor_file.h"

namespace psn {

// A Markov chain between two proposals.
struct ChainState {
  std::uint32_t id = 0;         // among the chains of the call
  std::uint64_t runs = 0;       // of the simulator
  std::uint64_t attempts = 0;   // to find a start
  std::uint64_t iteration = 0;  // proposals that were accepted or rejected
  std::uint64_t accepted = 0;   // of those after burn-in
  std::uint64_t decisions = 0;  // the position of its own random stream
  bool started = false;
  Trace current;
  struct Step {
    const Address* address = nullptr;
    double log_step = 0, updates = 0;
  };
  std::vector<Step> steps;  // of the random walk, where they were adapted

  // Of delayed acceptance (delayed_chain.h), where this is the chain of the simulator's traces.
  struct Delayed {
    double log_weight = 0;                // of the current trace
    double log_moves = 0, adapted = 0;    // moves of the level below for one of this, and how often
                                          // they were adapted
    bool alongside = true;                // the levels below have traces alongside
    std::uint64_t stay = 0, longest = 0;  // iterations in the current trace, and in any
    std::vector<double> log_weights;      // of what was proposed after burn-in
  };
  Delayed delayed;
  std::vector<double> marginal;    // of a pseudo-marginal chain (marginal_chain.cpp); else none
  std::uint64_t runs_for_one = 1;  // of the simulator, for an iteration; not kept in a file
  std::vector<ChainState> below;   // those of its surrogates, the coarsest first
};

struct EngineState {
  Posterior posterior{{}, 0};         // the samples that are there
  std::vector<std::uint64_t> rows;    // of each: its place in the result
  std::vector<std::uint64_t> failed;  // places of traces that the simulator could not finish
  std::vector<ChainState> chains;     // those that have begun
  std::string draws;                  // EngineOptions::draws as a file; empty: none
  std::uint64_t samples = 0;          // EngineOptions::samples; 0: nobody wrote it down

  std::uint64_t traces() const;  // that were run for it

  // As a file (docs/formats/unfinished-inference.md), to which more metadata may be added.
  TensorFile to_file() const;
  // Throws DataError that names `label`. The addresses become those of `table`.
  static EngineState from_file(const TensorFile& file, AddressTable& table,
                               const std::string& label);
  static constexpr const char* kKind = "psn unfinished inference";
  static constexpr int kVersion = 1;
};

// Through which any thread sees what a running engine has so far.
class EngineWindow {
 public:
  std::optional<EngineState> look() const;  // nullopt: no engine has begun
  // From now on the end of an engine stays to be seen, for another to go on from.
  void keep_end() { keeps_end_ = true; }

 private:
  friend class OpenWindow;
  mutable std::mutex mutex_;
  std::function<EngineState()> look_;
  std::optional<EngineState> last_;
  bool keeps_end_ = false;
};

// For engines: the window (may be null) is open while this lives. If an exception ends the engine,
// what was to be seen then stays to be seen. What it looks at must outlive this.
class OpenWindow {
 public:
  OpenWindow(EngineWindow* window, std::function<EngineState()> look);
  ~OpenWindow();
  OpenWindow(const OpenWindow&) = delete;
  OpenWindow& operator=(const OpenWindow&) = delete;

 private:
  EngineWindow* window_;
  int exceptions_;
};

}  // namespace psn
