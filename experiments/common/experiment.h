// What the paper's experiments have in common: each is a function from a request to a report.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "psn/core/run.h"

namespace psn {

struct ExperimentRequest {
  std::string preset = "default";  // recipe of the training; "paper": the paper's own
  bool quick = false;              // a look in a minute or two; its figures mean little
  std::uint64_t traces = 0;        // to train each network on; 0: as many as the experiment has
  std::uint64_t stored = 0;        // traces to store for that; 0: as many as the experiment has
  // Of all networks of control-flow and program-synthesis; empty, 0: the experiment's own.
  std::string core;
  std::size_t core_dim = 0;
  std::uint64_t seed = 0;
  std::string directory;       // where what takes long may be kept, to be used again
  Monitor* monitor = nullptr;  // optional; its `stop` ends the experiment
  // Optional: what is being done; may be called by several threads.
  std::function<void(const std::string& line)> status;
};

struct ExperimentReport {
  std::string results;                       // JSON
  std::string summary;                       // for people
  std::map<std::string, std::string> files;  // the data of every figure, by file name
};

// Random numbers of their own for each use of the seed: with the same ones a surrogate's traces
// would follow the simulator's, draw by draw, and look more alike than they are.
template <class Use>
std::uint64_t experiment_seed(Use use, std::uint64_t seed) {
  return seed + (static_cast<std::uint64_t>(use) << 48);
}

}  // namespace psn
