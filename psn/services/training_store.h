// A trace store in a simulator's place, for training.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "psn/data/store.h"
#include "psn/data/store_source.h"
#include "psn/services/train.h"
#include "psn/train/trainer.h"

namespace psn::services {

class TrainingStore {
 public:
  // `place`: where a training goes on that was begun before; empty: it begins.
  TrainingStore(const StoredTraces& traces, const std::string& place);

  // With as many traces as the epochs asked for have.
  void configure(TrainOptions& options) const;
  // Throws InvalidArgument for layers of a variable that no trace has.
  // Some of those that are held out.
  std::vector<Trace> some_traces(std::uint64_t count);
  void check_variable_names(const NetworkConfig& network) const;
  Progress train(Network& network, const TrainOptions& options, const ProgressSink& progress);
  // Where its traces go on after so many, within train().
  std::string place(std::uint64_t traces) const;

 private:
  std::uint64_t agreed_size(const TrainOptions& options) const;
  void require_name(const std::string& name, const std::string& field, bool observed) const;

  data::StoreReader reader_;
  double epochs_;
  data::Epoch epoch_{};       // to begin in
  std::uint64_t traces_ = 0;  // of the whole training, if it was begun before
  Share share_;
  std::unique_ptr<data::StoreSource> source_;
};

}  // namespace psn::services
