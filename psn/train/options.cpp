#include "psn/train/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>

#include "psn/base/error.h"
#include "psn/base/memory.h"

namespace psn {

const Fields<TrainOptions>& training_fields() {
  using Options = TrainOptions;
  using Whole = Field<Options>::Whole;
  using Real = Field<Options>::Real;
  using Flag = Field<Options>::Flag;
  constexpr std::uint64_t kMany = 1 << 30;
  static const Fields<Options> fields{
      {"traces", Whole{std::mem_fn(&Options::traces), 1, std::uint64_t{1} << 40}, "to train on"},
      {"batch_size", Whole{std::mem_fn(&Options::batch_size), 1, 1 << 20}, "traces in an update"},
      {"memory", Whole{std::mem_fn(&Options::memory_mb), 1, kMany},
       "MB that a batch may take while its gradient is computed; a larger one is computed in "
       "parts"},
      {"network_memory", Whole{std::mem_fn(&Options::network_memory_mb), 0, kMany},
       "MB that the network may take while it learns; 0: half of the machine's"},
      {"loss", choice_of<Options, Loss>(std::mem_fn(&Options::loss), {"nll", "divergence"}),
       "negative log likelihood of values drawn, or closed-form divergence from the simulator's "
       "distributions"},
      {"learning_rate", Real{[](Options& o) -> double& { return o.rate.learning_rate; }, 1e-9, 10},
       "of Adam, at the start"},
      {"schedule",
       choice_of<Options, Schedule>([](Options& o) -> Schedule& { return o.rate.schedule; },
                                    {"constant", "cosine", "plateau"}),
       "of the learning rate"},
      {"final_rate", Real{[](Options& o) -> double& { return o.rate.final_rate; }, 0, 1},
       "the smallest rate, as a fraction of the start"},
      {"plateau_factor",
       Real{[](Options& o) -> double& { return o.rate.plateau_factor; }, 0.001, 0.999},
       "a plateau schedule multiplies the rate by this"},
      {"plateau_patience",
       Whole{[](Options& o) -> std::uint64_t& { return o.rate.plateau_patience; }, 1, kMany},
       "after so many validations without a new best"},
      {"clip_norm", Real{[](Options& o) -> double& { return o.adam.clip_norm; }, 0, 1e30},
       "largest norm of a gradient; 0: no limit"},
      {"adam", Flag{[](Options& o) -> bool& { return o.adam.touched_only; }, "touched", "dense"},
       "whether an update moves only what has a gradient in its batch, or everything"},
      {"begin_rate",
       Flag{[](Options& o) -> bool& { return o.rate_rules.begin; }, "scaled", "plain"},
       "whether the logits after begin learn transition_hidden_dim times as fast as the rest"},
      {"wide_inputs",
       Whole{[](Options& o) -> std::uint64_t& { return o.rate_rules.wide_inputs; }, 0, kMany},
       "a layer over more inputs learns slower in proportion; 0: at the rate of the rest"},
      {"inherit", Flag{std::mem_fn(&Options::inherit), "yes", "no"},
       "whether a new address starts as a copy of another one of its site"},
      {"validate_every", Whole{std::mem_fn(&Options::validate_every), 0, kMany},
       "batches from one validation to the next, and the result is the best of them; 0: only at "
       "the end"},
      {"patience", Whole{std::mem_fn(&Options::patience), 0, kMany},
       "validations without a new best before training ends; 0: no end"},
      {"missing", Real{std::mem_fn(&Options::missing), 0, 0.99},
       "inference: share of traces from which an observation is withheld, so that the network "
       "learns to do without"}};
  return fields;
}

std::size_t TrainOptions::network_bytes() const {
  return network_memory_mb > 0 ? network_memory_mb * 1'000'000 : physical_memory() / 2;
}

void check(const TrainOptions& options) {
  const auto require = [](bool ok, const char* what) {
    if (!ok) throw InvalidArgument(what);
  };
  if (const auto problem = problem_of(training_fields(), options)) throw InvalidArgument(*problem);
  require(options.seconds >= 0, "seconds must not be negative");
  require(options.checkpoint_every >= 0, "checkpoint_every must not be negative");
  require(options.validate_every > 0 || options.patience == 0,
          "patience counts validations: validate_every must be positive");
  require(options.validate_every > 0 || options.rate.schedule != Schedule::kPlateau,
          "the plateau schedule follows validations: validate_every must be positive");
}

std::size_t default_batch_size(std::uint64_t traces, Purpose purpose) {
  constexpr std::uint64_t kSmallest = 4, kLargest = 256;
  // A surrogate's loss in closed form has no scatter of its own at the optimum, so its batches may
  // be small; that of proposals has.
  const std::uint64_t updates = purpose == Purpose::kSurrogate ? 20'000 : 1000;
  return static_cast<std::size_t>(
      std::clamp(std::bit_floor(traces / updates), kSmallest, kLargest));
}

void plan_for_stored(TrainOptions& options, std::uint64_t stored) {
  constexpr std::uint64_t kSmallestBatch = 32, kLargestBatch = 256, kValidations = 40;
  // 600 updates for a thousand traces, 3,800 for ten thousand, and no end of them for no more.
  constexpr double kOfThousand = 600, kGrowth = 0.8, kMost = 20'000;
  const double thousands = static_cast<double>(stored) / 1000;
  const auto updates = static_cast<std::uint64_t>(
      std::clamp(kOfThousand * std::pow(thousands, kGrowth), kOfThousand / 2, kMost));
  options.batch_size = static_cast<std::size_t>(
      std::clamp(std::bit_floor(stored / kValidations), kSmallestBatch, kLargestBatch));
  options.traces = std::max(stored, updates * options.batch_size);
  options.validate_every =
      std::max<std::uint64_t>(1, options.traces / options.batch_size / kValidations);
  options.patience = kValidations / 4;
}

Preset preset(std::string_view name, Purpose purpose) {
  Preset result;
  result.network.purpose = purpose;
  TrainOptions& training = result.training;
  if (name == "paper") {
    training.loss = Loss::kNegativeLogLikelihood;
    training.rate.learning_rate = 5e-4;
    training.rate.schedule = Schedule::kConstant;
    training.rate_rules = {.begin = false, .wide_inputs = 0};
    return result;
  }
  if (name == "default") {
    training.adam.touched_only = true;
    training.batch_size = default_batch_size(training.traces, purpose);
    training.inherit = true;
    if (purpose == Purpose::kSurrogate) {
      result.network.addressing = Addressing::kShared;
      result.network.tally = true;
      result.network.recall = 32;
      training.rate.learning_rate = 2e-3;
      training.adam.clip_norm = 10;
    } else {
      training.rate.learning_rate = 4e-3;
      result.network.sequential_proposals = true;
      result.network.mixture_components = 10;
      result.network.observation_context = 64;
      result.network.compress_tails = true;
      result.network.observation_layers.num_layers = 2;
      result.network.observation_layers.hidden_dim = 64;
    }
    result.network.observation_layers.skip = 64;
    return result;
  }
  throw InvalidArgument(
      fmt::format("there is no preset '{}'; there are 'paper' and 'default'", name));
}

}  // namespace psn
