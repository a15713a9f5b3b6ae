// Networks that are kept in files and used again by whoever asks for the same training: one that is
// interrupted at any moment, by kill -9 too, goes on when it is asked for again.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "psn/train/trainer.h"

namespace psn::services {

struct CurvePoint {
  Progress progress;
  std::optional<double> measured;  // by TrainingPlan::measure
};

// One network and how it was trained.
struct TrainedNetwork {
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

// The plan of training online, on the traces of a simulator that must outlive it.
TrainingPlan online_plan(Simulator& simulator, Preset recipe);

// All of a plan that decides what network comes out, as TOML.
std::string plan_config(const TrainingPlan& plan);

// The network of that file (ending in .psn), if it was trained by this plan; else trained, from the
// last checkpoint on if there is one of this plan. An empty path: trained, and not kept. `status`
// (may be null) is told how far it is. Throws Interrupted, with a checkpoint left behind, and what
// training throws. Different files may be worked on by several threads at once.
TrainedNetwork train_or_load(const std::string& path, const TrainingPlan& plan,
                             const std::function<void(const std::string&)>& status = {});

}  // namespace psn::services
