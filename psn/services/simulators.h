// From what a person calls a model to a Simulator: a built-in name, a plugin (./libmodel.so), a
// surrogate (s.psn), simulators in other processes (exec:COMMAND, ppx+tcp://HOST:PORT), a program
// that knows nothing of psn (attach:COMMAND).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "psn/core/ensemble.h"
#include "psn/nn/run/surrogate.h"
#include "psn/services/host.h"

namespace psn::services {

// Of simulators in other processes; max_failures of all.
struct RemoteSettings {
  std::size_t workers = 1;               // processes to start, for exec:, or to run, for attach:
  double max_failures = 0.01;            // share of the runs that may fail
  std::optional<double> start_limit;     // seconds to start, or to be there
  double run_limit = 0;                  // seconds for a whole run; 0: none
  std::string curve_server, curve_keys;  // files with keys; empty: no encryption
  std::string attach;                    // file about an attached program; may be empty
};

struct SimulatorSettings {
  std::size_t stack_kib = 0;  // of each simulation in this process; 0: what the model asks for
  double time_limit = 3600;   // seconds between two choices of a simulation; 0: none
  RemoteSettings remote;
};

// Which model to run, how often and how.
struct SimulationOptions : SimulatorSettings {
  std::string model;
  std::uint64_t count = 10'000;  // runs
  Parallelism parallelism;
  std::size_t max_length = 1'000'000;  // random choices in a trace before it is an error
  std::uint64_t seed = 0;

  RunOptions run_options(Host& host, const Observations* held = nullptr) const {
    return {.held = held, .max_length = max_length, .monitor = &host.monitor()};
  }
};

// What becomes of a surrogate's traces where it knows no further.
struct SurrogateUse {
  SurrogateOptions::Unknown unknown = SurrogateOptions::Unknown::kRenormalise;
  std::string simulator;  // the model that it stands for
};

// For so many runs. Throws InvalidArgument with the nearest name for an unknown one, DataError for
// a file that cannot be loaded, ModelError for a remote simulator that does not answer.
std::unique_ptr<Simulator> open_simulator(const std::string& model,
                                          const SimulatorSettings& settings, std::uint64_t runs,
                                          const Host& host);
inline std::unique_ptr<Simulator> open_simulator(const SimulationOptions& options,
                                                 const Host& host) {
  return open_simulator(options.model, options, options.count, host);
}
// The same for what may be a surrogate; throws InvalidArgument if its use does not fit the model.
// `needs_simulator`: use.simulator has another purpose besides.
std::unique_ptr<Simulator> open_simulator(const SimulationOptions& options, const SurrogateUse& use,
                                          const Host& host, bool needs_simulator = false);

// Keys in files: one for a public key, two (public, secret) for a pair. Throws DataError.
std::vector<std::string> read_keys(const std::string& path, std::size_t count);

}  // namespace psn::services
