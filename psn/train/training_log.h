// TrainingLog: the course of a training as progress.csv and as an event file for TensorBoard, row
// by row as it happens. docs/formats/training-log.md.
#pragma once

#include <fstream>
#include <memory>
#include <string>

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

 private:
  std::string csv_path_;
  bool infers_;
  std::ofstream csv_;
  std::unique_ptr<EventFile> events_;
};

}  // namespace psn
