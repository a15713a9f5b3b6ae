// How to train: options, and presets of them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "psn/core/run.h"
#include "psn/nn/config.h"
#include "psn/ranks/communicator.h"
#include "psn/train/adam.h"
#include "psn/train/gradient.h"
#include "psn/train/progress.h"
#include "psn/train/schedule.h"

namespace psn {

struct TrainOptions {
  std::uint64_t traces = 500'000;
  double seconds = 0;  // stops after so long, unfinished; 0: no limit
  std::size_t batch_size = 512;
  // That a batch may take while its gradient is computed; a larger one is computed in parts, whose
  // sums differ from those of the whole by rounding.
  std::size_t memory_mb = 1000;
  // That the network's parameters may take while they learn; 0: half of what the machine has.
  std::size_t network_memory_mb = 0;
  std::uint64_t seed = 0;  // of the simulator's traces; the network has its own

  Loss loss = Loss::kDivergence;
  RateOptions rate;
  AdamOptions adam;
  RateRules rate_rules;
  bool inherit = false;  // new nodes start as copies of others of their site (Growth)
  // Inference: each observation is withheld from this share of traces, so that the network learns
  // to do without it.
  double missing = 0;

  // Held-out traces, drawn from the same seed but another substream of it: never trained on.
  std::uint64_t validation_traces = 0;  // 0: no validation
  // Batches; 0: at the end only. If there are validations on the way, the network that comes out is
  // the one with the best.
  std::uint64_t validate_every = 0;
  std::uint64_t patience = 0;         // validations without a new best before the end; 0: no end
  std::uint64_t progress_every = 50;  // batches

  // A loss that is this much above the best so far, in nats per trace, has exploded.
  double explosion = 1e5;
  Parallelism simulation{64, 1};       // of the simulator
  std::size_t max_length = 1'000'000;  // of a trace
  Communicator* ranks = nullptr;       // that train together; null: this process alone
  Monitor* monitor = nullptr;          // its `stop` ends the training after the current batch
  // Called after every batch, for those who watch. The means are over the batches since the last
  // report.
  std::function<void(std::uint64_t traces, double loss, double kl)> batch_done;

  // Called between batches every so many seconds, and when training stops before its end.
  std::function<void(const TrainingState&)> checkpoint;
  double checkpoint_every = 60;
  // Goes on from there, with the network of that moment and a source that begins after
  // progress.traces.
  const TrainingState* resume = nullptr;

  std::size_t network_bytes() const;
};

// The table of what can be set by hand.
const Fields<TrainOptions>& training_fields();

// Throws InvalidArgument, naming the option.
void check(const TrainOptions& options);

// Few traces want small batches, or there are too few updates to learn anything: a power of two
// from 4 to 256 that gives at least 20,000 of them to a surrogate, 1,000 to an inference network,
// if that is possible (docs/training.md has what it is worth).
std::size_t default_batch_size(std::uint64_t traces, Purpose purpose);

// Stored traces come again and again, and could be learned by heart: as many updates as so many
// traces bear, with forty validations on the way, of which the best counts.
void plan_for_stored(TrainOptions& options, std::uint64_t stored);

// "paper": the paper's architecture and optimizer, and nothing of ours; "default": our recipe.
// InvalidArgument for other names.
struct Preset {
  NetworkConfig network;
  TrainOptions training;
};
Preset preset(std::string_view name, Purpose purpose = Purpose::kSurrogate);

}  // namespace psn
