// Checkpoints: a training between two batches, on disk, so that it can go on from there. The file
// is a network like any other, with what only a trainer needs besides (docs/formats/network.md);
// the best network on validation is another file beside it.
#pragma once

#include <memory>
#include <string>

#include "psn/nn/network.h"
#include "psn/train/progress.h"

namespace psn {

struct Checkpoint {
  std::shared_ptr<Network> network;
  TrainingState state;
  std::string history;  // as in the network's file
  std::string config;   // how the training was begun, as the caller writes it
  std::string source;   // where its traces go on, if that is more than their number
};

class CheckpointFile {
 public:
  // `path` ends in .psn.
  explicit CheckpointFile(std::string path);
  const std::string& path() const { return path_; }
  bool exists() const;

  // All throw DataError that names the file. A save that fails leaves the one before.
  void save(const Checkpoint& checkpoint);
  Checkpoint load();
  void remove();
  // What was being written when a training was killed.
  void remove_abandoned();

 private:
  std::string path_, best_path_;
  std::shared_ptr<const Network> saved_best_;  // what is in the other file
};

}  // namespace psn
