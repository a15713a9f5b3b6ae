// Training while the simulator runs: its traces, held out or to learn from.
#include <algorithm>

#include "psn/train/trainer.h"

namespace psn {
namespace {

constexpr std::uint32_t kTrainingChain = 0x747261, kValidationChain = 0x76616c;

}  // namespace

Progress train_online(Simulator& simulator, Network& network, const TrainOptions& options,
                      const ProgressSink& progress) {
  // An inference network follows rejection loops; a surrogate has all rounds, as a program does.
  const bool accepted_rounds = network.infers();
  // Held-out traces come first: a simulator may allow only one user at a time.
  const std::vector<Trace> held_out = held_out_traces(simulator, options, accepted_rounds);
  StreamOptions stream_options = training_stream(options, training_share(options));
  stream_options.accepted_rounds = accepted_rounds;
  TraceStream stream(simulator, stream_options);
  return train_network(stream, held_out, network, options, progress);
}

Share training_share(const TrainOptions& options) {
  Share share{.block = options.batch_size};
  if (options.ranks) share = {options.ranks->rank(), options.ranks->size(), options.batch_size};
  share.check();
  return share;
}

StreamOptions training_stream(const TrainOptions& options, const Share& share) {
  return {.seed = options.seed,
          .chain = kTrainingChain,
          .count = options.traces,
          .ahead = std::max<std::size_t>(2048, 3 * options.batch_size),
          .max_length = options.max_length,
          .parallelism = options.simulation,
          .share = share,
          .first = options.resume ? share.count_of(options.resume->traces) : 0,
          .monitor = options.monitor};
}

std::vector<Trace> held_out_traces(Simulator& simulator, const TrainOptions& options,
                                   bool accepted_rounds) {
  const auto count = static_cast<std::size_t>(options.validation_traces);
  if (count == 0) return {};
  TraceStream stream(simulator, {.seed = options.seed,
                                 .chain = kValidationChain,
                                 .count = count,
                                 .ahead = count,
                                 .max_length = options.max_length,
                                 .parallelism = options.simulation,
                                 .accepted_rounds = accepted_rounds,
                                 .monitor = options.monitor});
  std::vector<Trace> traces;
  stream.take(count, traces);
  return traces;
}

}  // namespace psn
