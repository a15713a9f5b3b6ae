// A training that is not finished, as it lies beside the file that it will write: s.checkpoint.psn
// for s.psn.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "psn/io/file_lock.h"
#include "psn/ranks/communicator.h"
#include "psn/train/checkpoint.h"

namespace psn::services {

class UnfinishedTraining {
 public:
  // `config`: the command's effective configuration. Throws DataError if another process trains
  // towards the same file. Of several ranks, the first speaks for all.
  UnfinishedTraining(std::string out, std::string config, const Communicator& ranks);

  // What is there to go on from; nullopt: nothing, so training starts. Throws InvalidArgument if
  // something is there but nobody asked to resume, if it was begun with other options, or if all is
  // finished; DataError if the file is damaged.
  std::optional<Checkpoint> open(bool resume);
  // `source`: where its traces go on, if that is more than their number.
  void save(std::shared_ptr<Network> network, const TrainingState& state, std::string history,
            std::string source);
  // The network alone, of a training that cannot go on.
  void save_failed(std::shared_ptr<Network> network, std::string history);
  void finish() { file_.remove(); }

  // "'s.checkpoint.psn' holds ...", to end a message with; empty if nothing was saved.
  std::string hint() const;

 private:
  std::string out_, config_;
  std::optional<FileLock> lock_;
  CheckpointFile file_;
  std::uint64_t updates_ = 0;  // in the file
  bool failed_ = false;
};

// The configuration of what is unfinished towards that file; nullopt: nothing is.
std::optional<std::string> unfinished_config(const std::string& out);

}  // namespace psn::services
