// Training a network (the paper's Section 3.3): the network learns from one batch of traces after
// another, and grows whenever a trace has something new. Online, the traces come from a simulator
// that runs while the network learns from those before.
//
// Deterministic: the same traces, options and machine give the same parameters, bit for bit, unless
// a time limit is set. Blocking; runs the network on the calling thread.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "psn/core/run.h"
#include "psn/core/trace_source.h"
#include "psn/nn/network.h"
#include "psn/train/adam.h"
#include "psn/train/gradient.h"
#include "psn/train/stream.h"

namespace psn {

enum class Schedule {
  kConstant,
  kCosine,  // from the rate to a small fraction of it, over the whole training
};

struct TrainOptions {
  std::uint64_t traces = 500'000;
  double seconds = 0;  // a time limit; 0: none. The schedule then follows whichever is nearer
  std::size_t batch_size = 512;
  std::uint64_t seed = 0;  // of the simulator's traces; the network has its own

  Loss loss = Loss::kDivergence;
  double learning_rate = 2e-3;
  Schedule schedule = Schedule::kCosine;
  double final_rate = 0.01;  // of a cosine schedule, as a fraction
  AdamOptions adam;
  bool inherit = false;  // new nodes start as copies of others of their site (Growth)
  // Inference: each observation is withheld from this share of traces, so that the network learns
  // to do without it.
  double missing = 0;

  // Held-out traces, drawn from the same seed but another lane of it: never trained on.
  std::uint64_t validation_traces = 0;  // 0: no validation
  std::uint64_t validate_every = 0;     // batches; 0: at the end only
  std::uint64_t progress_every = 50;    // batches

  // A loss that is this much above the best so far, in nats per trace, has exploded.
  double explosion = 1e5;
  Parallelism simulation{64, 1};       // of the simulator
  std::size_t max_length = 1'000'000;  // of a trace
  const Monitor* monitor = nullptr;    // its `stop` ends the training after the current batch
};

struct Validation {
  std::uint64_t traces = 0;
  std::uint64_t unseen = 0;   // traces with an address or transition that training never met
  double loss = 0;            // -log s, or -log q of an inference network; nats per trace
  double kl = 0;              // of a surrogate: nats per trace, from the simulator
  double standard_error = 0;  // of the KL; of the loss for an inference network
};

struct Progress {
  std::uint64_t batches = 0, traces = 0;
  double loss = 0, kl = 0;  // means over the batches since the last report
  double rate = 0;
  std::size_t addresses = 0, transitions = 0;
  double seconds = 0, traces_per_second = 0;
  std::optional<Validation> validation;
};
using ProgressSink = std::function<void(const Progress&)>;

// Until the traces of the options have been learned from, or the source ends. Throws
// InvalidArgument for impossible options; ModelError if the loss is not finite or explodes,
// naming batch and address: the network is then that of an earlier batch, at most 100 before. After
// an error of the source it is that of the last batch. Returns the last progress, with the
// validation on `held_out` at the end, unless that is empty.
//
// An inference network learns from the same traces, in which observations are drawn like everything
// else; its loss is -log q of the latent choices (the paper's Eq. 3).
Progress train_network(TraceSource& source, const std::vector<Trace>& held_out, Network& network,
                       const TrainOptions& options, const ProgressSink& progress = {});
// The same on traces of a simulator: first those held out, then the stream that is trained on.
Progress train_online(Simulator& simulator, Network& network, const TrainOptions& options,
                      const ProgressSink& progress = {});
// The stream of train_online().
StreamOptions training_stream(const TrainOptions& options, const Share& share = {},
                              std::uint64_t first = 0);

// Loss and KL from the simulator over held-out traces. What the network does not know is added to a
// copy of it, as Theorem 2 has it, so the result is finite.
Validation validate(const Network& network, const std::vector<Trace>& traces);
std::vector<Trace> held_out_traces(Simulator& simulator, const TrainOptions& options);

// "paper" (the paper's configuration) or "default" (ours); InvalidArgument for other names.
struct Preset {
  NetworkConfig network;
  TrainOptions training;
};
Preset preset(std::string_view name, Purpose purpose = Purpose::kSurrogate);

}  // namespace psn
