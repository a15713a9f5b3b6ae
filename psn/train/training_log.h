// TrainingLog: the course of a training as progress.csv and as an event file for TensorBoard, row
// by row as it happens. docs/formats/training-log.md.
#pragma once

#include <fstream>
#include <memory>
#include <string>

#include "psn/io/descriptor.h"
#include "psn/io/event_file.h"
#include "psn/train/progress.h"

namespace psn {

class TrainingLog {
 public:
  // `state`: of a training that goes on in the same folder, whose later rows are dropped, as they
  // will come again; null: one that starts. Throws DataError if the folder cannot be used;
  // InvalidArgument if it has the log of another training, unless `again`.
  TrainingLog(const std::string& folder, bool infers, bool again, const TrainingState* state);
  void add(const Progress& progress);

  // Beside the rows, for those who watch: how many traces the training is to have, and how it
  // ended ("finished", "stopped"; empty: it has not).
  void note(std::uint64_t traces, const std::string& end = "");

 private:
  std::string folder_, csv_path_;
  bool infers_;
  std::ofstream csv_;
  Descriptor lock_;  // on the rows, for as long as more will come: tells watchers who was killed
  std::unique_ptr<EventFile> events_;
};

}  // namespace psn
