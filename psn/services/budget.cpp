#include "psn/services/budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "psn/services/same_options.h"
#include "psn/services/unfinished_training.h"
#include "psn/train/trainer.h"

namespace psn::services {
namespace {

constexpr std::uint64_t kFewest = 100;  // traces that it takes to learn anything
constexpr std::uint64_t kMostHeldOut = 5000;

// Of a training with batches of that size, in its second half: the first meets what is new.
double traces_per_second(const TrainingJob& job, std::size_t batch_size, double seconds,
                         Simulator& simulator, Host& host) {
  TrainOptions options = job.recipe.training;
  options.traces = std::uint64_t{1} << 40;
  options.seconds = seconds;
  options.batch_size = batch_size;
  options.rate.schedule = Schedule::kConstant;
  options.validation_traces = options.validate_every = options.patience = 0;
  options.progress_every = 1;
  options.monitor = &host.monitor();
  options.ranks = &host.ranks();
  options.checkpoint = {};
  Network network = job.from ? *job.from : Network(job.recipe.network, options.seed);
  std::optional<Progress> half;
  const Progress last = train_online(simulator, network, options, [&](const Progress& p) {
    if (!half && p.seconds >= seconds / 2) half = p;
  });
  if (host.monitor().stop.load()) throw InterruptedWork("");
  if (half && half->traces < last.traces) {
    return static_cast<double>(last.traces - half->traces) / (last.seconds - half->seconds);
  }
  return static_cast<double>(last.traces) / last.seconds;
}

// The same for all ranks, whose clocks differ.
double agreed(double figure, Communicator& ranks) {
  std::string text = fmt::format("{}", figure);
  ranks.broadcast(text);
  return std::stod(text);
}

std::optional<std::uint64_t> whole_of(const std::map<std::string, std::string>& options,
                                      const std::string& name) {
  const auto found = options.find(name);
  if (found == options.end()) return std::nullopt;
  const std::string& text = found->second;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

TrainingAmount amount_within(const TrainingJob& job, double seconds, Host& host) {
  const WorkScope work(host, {.label = job.model + ": how fast it trains"});
  const auto simulator = open_simulator(job.model, job.simulator, 0, host);
  // Small batches first, for some simulators take a second for each trace; then those that the
  // first measurement asks for, which are faster.
  const double trial = std::clamp(seconds / 40, 0.2, 10.0);
  const double left = std::max(0.0, seconds - 2 * trial);
  TrainingAmount amount;
  std::size_t batch_size = default_batch_size(0);
  for (int round = 0; round < 2; ++round) {
    const double speed =
        agreed(traces_per_second(job, batch_size, trial, *simulator, host), host.ranks());
    // A tenth is held out, and costs no more than what is learned from.
    const double runs = speed * left;
    amount.validation =
        static_cast<std::uint64_t>(std::min(runs / 11, static_cast<double>(kMostHeldOut)));
    amount.traces = static_cast<std::uint64_t>(runs) - amount.validation;
    if (amount.traces < kFewest) {
      throw InvalidArgument(fmt::format(
          "`budget`: '{}' gives {:.3g} traces a second, so {:.0f} seconds are too little to learn "
          "from; allow more, or store traces first (psn data generate), in several processes",
          job.model, speed, seconds));
    }
    batch_size = default_batch_size(amount.traces);
  }
  return amount;
}

std::optional<TrainingAmount> amount_begun(const std::string& out) {
  const auto config = unfinished_config(out);
  if (!config) return std::nullopt;
  const auto options = deciding_options(*config);
  const auto traces = whole_of(options, "traces"), validation = whole_of(options, "validation");
  if (!traces || !validation) return std::nullopt;
  return TrainingAmount{*traces, *validation};
}

}  // namespace psn::services
