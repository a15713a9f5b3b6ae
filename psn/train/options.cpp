#include "psn/train/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "psn/base/error.h"

namespace psn {

void check(const TrainOptions& options) {
  const auto require = [](bool ok, const char* what) {
    if (!ok) throw InvalidArgument(what);
  };
  const RateOptions& rate = options.rate;
  require(options.batch_size > 0, "batch_size must be positive");
  require(rate.learning_rate > 0 && std::isfinite(rate.learning_rate),
          "learning_rate must be positive");
  require(rate.final_rate >= 0 && rate.final_rate <= 1, "final_rate must be within [0, 1]");
  require(rate.plateau_factor > 0 && rate.plateau_factor < 1,
          "plateau_factor must be within (0, 1)");
  require(rate.plateau_patience > 0, "plateau_patience must be positive");
  require(options.memory_mb > 0, "memory must be positive");
  require(options.seconds >= 0, "seconds must not be negative");
  require(options.checkpoint_every >= 0, "checkpoint_every must not be negative");
  require(options.adam.clip_norm >= 0, "clip_norm must not be negative");
  require(options.missing >= 0 && options.missing < 1, "missing must be within [0, 1)");
  require(options.validate_every > 0 || options.patience == 0,
          "patience counts validations: validate_every must be positive");
  require(options.validate_every > 0 || rate.schedule != Schedule::kPlateau,
          "the plateau schedule follows validations: validate_every must be positive");
}

std::size_t default_batch_size(std::uint64_t traces) {
  constexpr std::uint64_t kUpdates = 500, kSmallest = 8, kLargest = 256;
  return static_cast<std::size_t>(
      std::clamp(std::bit_floor(traces / kUpdates), kSmallest, kLargest));
}

Preset preset(std::string_view name, Purpose purpose) {
  Preset result;
  result.network.purpose = purpose;
  TrainOptions& training = result.training;
  if (name == "paper") {
    training.loss = Loss::kNegativeLogLikelihood;
    training.rate.learning_rate = 5e-4;
    training.rate.schedule = Schedule::kConstant;
    return result;
  }
  if (name == "default") {
    if (purpose == Purpose::kSurrogate) result.network.addressing = Addressing::kShared;
    training.adam.touched_only = true;
    training.batch_size = default_batch_size(training.traces);
    training.rate.learning_rate = 4e-3;
    training.inherit = true;
    result.network.observation_layers.skip = 64;
    return result;
  }
  throw InvalidArgument(
      fmt::format("there is no preset '{}'; there are 'paper' and 'default'", name));
}

}  // namespace psn
