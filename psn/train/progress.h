// How far a training has come: what is reported, and all that is needed to go on from there.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "psn/nn/network.h"
#include "psn/train/growth.h"
#include "psn/train/schedule.h"
#include "psn/train/validation.h"

namespace psn {

struct Progress {
  std::uint64_t batches = 0, traces = 0;
  double loss = 0, kl = 0;  // means over the batches since the last report
  double rate = 0;
  std::size_t addresses = 0, transitions = 0;
  double seconds = 0;  // in all
  double traces_per_second = 0;
  std::optional<Validation> validation;
  bool finished = false;  // nothing is left to do
};
using ProgressSink = std::function<void(const Progress&)>;

// Between two batches. Together with the network and its moments this is everything: training that
// goes on from here gives the same network, bit for bit, as training that was not interrupted.
struct TrainingState {
  std::uint64_t batches = 0, traces = 0;
  double seconds = 0;
  double rate = 0;                  // of the last update
  double lowest_loss = 0;           // of a batch
  double loss_sum = 0, kl_sum = 0;  // over batches from the first summed on
  std::uint64_t first_summed = 0;
  std::uint64_t reported = 0;  // batches at the last report
  Plateau plateau;
  std::shared_ptr<Network> best;  // on validation, without moments; null: none yet
  GrowthState growth;
  std::vector<std::uint64_t> last_updates;  // Adam's
};

}  // namespace psn
