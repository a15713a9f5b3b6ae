// Training as a person asks for it: a network learns from a model or from a store of traces, leaves
// checkpoints beside the file that it will write, and goes on from them.
//
// Blocking. With several ranks each calls train() with the same job; rank 0 writes.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "psn/core/failure_log.h"
#include "psn/services/simulators.h"
#include "psn/train/options.h"
#include "psn/train/progress.h"

namespace psn::services {

struct StoredTraces {
  std::string store;  // its folder
  double epochs = 0;  // passes over it; 0: as many traces as the training says
};

struct TrainingJob {
  // What to learn and how; callbacks, monitor, ranks and resume are set by the service.
  Preset recipe;
  std::string model;  // to learn from; or:
  StoredTraces data;
  SimulatorSettings simulator;
  std::shared_ptr<Network> from;  // to learn on from; null: a new network
  std::string out;                // the file to write, ending in .psn
  std::string log;                // folder for the course of the training; empty: none
  bool resume = false;            // go on with what is unfinished, if there is
  // All options as TOML: written beside the network, and the measure of whether unfinished work
  // was begun with the same (psn/services/same_options.h).
  std::string config;
};

struct TrainingResult {
  Progress last;                      // with `finished` false: stopped by recipe.training.seconds
  bool infers = false;                // an inference network
  std::uint64_t traces = 0;           // of the whole training
  Failures failures;                  // of the simulator
  std::vector<std::string> warnings;  // what it should not be taken for
  std::string verdict;                // in words, from held-out traces; empty: none can be given
  std::string left;  // of a training that is not finished: "; 's.checkpoint.psn' holds ..."

  double traces_per_second() const { return static_cast<double>(last.traces) / last.seconds; }
};

// Throws InvalidArgument for a job that cannot be done, DataError for files that cannot be read or
// written, ModelError for a simulator or a training that fails, ProtocolError for a remote
// simulator that breaks its protocol, InterruptedWork when the host says stop. Errors say what is
// left to go on from.
TrainingResult train(TrainingJob job, Host& host);

// The network of a file, to learn on from; null for an empty path. Throws InvalidArgument if it is
// for another purpose.
std::shared_ptr<Network> load_trained(const std::string& path, Purpose purpose);

}  // namespace psn::services
