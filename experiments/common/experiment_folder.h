// ExperimentFolder: what an experiment keeps in its directory, so that it can be interrupted at any
// moment, by kill -9 too, and goes on with the same command: stores of traces and trained networks.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "experiments/common/experiment.h"
#include "psn/core/ensemble.h"
#include "psn/data/store.h"
#include "psn/io/file_lock.h"
#include "psn/services/kept_network.h"

namespace psn {

using services::CurvePoint;
using services::online_plan;
using services::TrainedNetwork;
using services::TrainingPlan;

// The network that the request wants in the place of the experiment's own.
void set_core(const ExperimentRequest& request, NetworkConfig& network);

class ExperimentFolder {
 public:
  // Makes the directory; with an empty one nothing is kept. Throws DataError if another process is
  // at work there.
  explicit ExperimentFolder(const ExperimentRequest& request);

  std::string path(const std::string& name) const { return request_.directory + "/" + name; }
  // The store of that name with at least so many traces; makes those that are missing. Throws
  // Interrupted; what was made by then stays.
  std::unique_ptr<data::StoreReader> store(const std::string& name, Simulator& simulator,
                                           std::uint64_t traces) const;
  // See services::train_or_load().
  TrainedNetwork network(const std::string& name, const TrainingPlan& plan) const;

  void say(const std::string& what) const {
    if (request_.status) request_.status(what);
  }
  void stop_if_asked() const;

 private:
  const ExperimentRequest& request_;
  std::optional<FileLock> lock_;
};

}  // namespace psn
