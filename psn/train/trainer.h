// Training a network (the paper's Section 3.3): the network learns from one batch of traces after
// another, and grows whenever a trace has something new. Online, the traces come from a simulator
// that runs while the network learns from those before.
//
// Deterministic: the same traces, options and machine give the same parameters, bit for bit, also
// if training stops and goes on in between. Blocking; runs the network on the calling thread.
#pragma once

#include <vector>

#include "psn/base/error.h"
#include "psn/core/trace_source.h"
#include "psn/nn/network.h"
#include "psn/train/options.h"
#include "psn/train/progress.h"
#include "psn/train/stream.h"

namespace psn {

// The loss is not finite, or exploded.
class TrainingFailed : public ModelError {
 public:
  using ModelError::ModelError;
};

// With several ranks, `source` has this rank's share of every batch, and batch_size is that of all
// together. Each must be called with the same network and options, and ends with the same network.
// An error of one is thrown on all.
//
// Until the traces of the options have been learned from, the source ends, or validation has not
// improved for long enough. Throws InvalidArgument for impossible options; TrainingFailed, naming
// batch and address: the network is then that of an earlier batch, at most 100 before. Errors of
// the source and of the checkpoint are passed on; the network is then that of the last batch.
// Returns the last progress, with the validation on `held_out`, unless that is empty.
//
// An inference network learns from the same traces, in which observations are drawn like everything
// else; its loss is -log q of the latent choices (the paper's Eq. 3).
//
// A network that has been trained before, without a state to resume from, is tuned: it keeps the
// scalings that it came with.
Progress train_network(TraceSource& source, const std::vector<Trace>& held_out, Network& network,
                       const TrainOptions& options, const ProgressSink& progress = {});
// The same on traces of a simulator: first those held out, then the stream that is trained on.
Progress train_online(Simulator& simulator, Network& network, const TrainOptions& options,
                      const ProgressSink& progress = {});
// What this rank has of every batch. Throws InvalidArgument if they cannot be divided.
Share training_share(const TrainOptions& options);
// The traces of train_online().
StreamOptions training_stream(const TrainOptions& options, const Share& share = {});
std::vector<Trace> held_out_traces(Simulator& simulator, const TrainOptions& options,
                                   bool accepted_rounds = false);

}  // namespace psn
