// What an experiment keeps in its directory, so that it can be interrupted at any moment, by
// kill -9 too, and goes on with the same command: stores of traces and trained networks.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "experiments/experiment.h"
#include "psn/base/file_lock.h"
#include "psn/core/ensemble.h"
#include "psn/data/store.h"
#include "psn/train/trainer.h"

namespace psn {

struct CurvePoint {
  Progress progress;
  std::optional<double> measured;  // by TrainingPlan::measure
};

// One network and how it was trained.
struct Trained {
  std::shared_ptr<Network> network;
  std::vector<CurvePoint> curve;

  double seconds() const { return curve.empty() ? 0 : curve.back().progress.seconds; }
};

// How to train a network.
struct TrainingPlan {
  Preset recipe;
  std::string data;  // what it learns from, in words: part of what tells trainings apart
  std::function<Progress(Network&, const TrainOptions&, const ProgressSink&)> train;
  // Optional: a figure of the network at each point of the curve.
  std::function<std::optional<double>(const Network&, const Progress&)> measure;
};

class Kept {
 public:
  // Makes the directory; with an empty one nothing is kept. Throws DataError if another process is
  // at work there.
  explicit Kept(const ExperimentRequest& request);

  std::string path(const std::string& name) const { return request_.directory + "/" + name; }
  // The store of that name with at least so many traces; makes those that are missing. Throws
  // Interrupted; what was made by then stays.
  std::unique_ptr<data::StoreReader> store(const std::string& name, Simulator& simulator,
                                           std::uint64_t traces) const;
  // The network of that name, if it was trained by this plan; else trained, from the last
  // checkpoint on if there is one. Throws Interrupted, with a checkpoint left behind.
  Trained network(const std::string& name, const TrainingPlan& plan) const;

  void say(const std::string& what) const {
    if (request_.status) request_.status(what);
  }
  void stop_if_asked() const;

 private:
  struct Course;

  const ExperimentRequest& request_;
  std::optional<FileLock> lock_;
};

// The plan of training online, on the traces of a simulator that must outlive it.
TrainingPlan online_plan(Simulator& simulator, Preset recipe);

}  // namespace psn
