// A trace store in a simulator's place, for training.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

#include "psn/data/store.h"
#include "psn/train/trainer.h"

namespace psn::app {

struct StoreArguments {
  std::string data;
  double epochs = 0;

  void add_to(CLI::App& command);
};

class TrainingStore {
 public:
  explicit TrainingStore(const StoreArguments& arguments);

  // With as many traces as the epochs asked for have.
  void configure(TrainOptions& options) const;
  // Throws InvalidArgument for layers of a variable that no trace has.
  void check_variable_names(const NetworkConfig& network) const;
  Progress train(Network& network, const TrainOptions& options, const ProgressSink& progress);

 private:
  void require_name(const std::string& name, const std::string& option, bool observed) const;

  data::StoreReader reader_;
  double epochs_;
};

}  // namespace psn::app
