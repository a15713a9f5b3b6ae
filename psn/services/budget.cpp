#include "psn/services/budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "psn/core/guide.h"
#include "psn/services/same_options.h"
#include "psn/services/unfinished_training.h"
#include "psn/train/trainer.h"

namespace psn::services {
namespace {

constexpr std::uint64_t kFewest = 100;  // traces that it takes to learn anything
constexpr std::uint64_t kMostHeldOut = 5000;

// Of a training with batches of that size, in its second half: the first meets what is new. The
// network learns and grows by it.
double traces_per_second(const TrainingJob& job, std::size_t batch_size, double seconds,
                         Simulator& simulator, Network& network, Host& host) {
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

double runs_per_second(const TrainingJob& job, Simulator& simulator, double seconds, Host& host) {
  const Stopwatch clock;
  std::uint64_t runs = 0;
  for (std::uint64_t more = 1; clock.seconds() < seconds; more *= 2) {
    run_traces(
        simulator, more, [] { return std::make_unique<PriorGuide>(); },
        [](std::uint64_t, Trace&) {},
        {.seed = job.recipe.training.seed,
         .max_length = job.recipe.training.max_length,
         .monitor = &host.monitor(),
         .failed = [](std::uint64_t) {}},
        job.recipe.training.simulation);
    runs += more;
  }
  return static_cast<double>(runs) / clock.seconds();
}

// Of so many runs a tenth is held out, which costs no more than what is learned from.
TrainingAmount amount_of(double runs) {
  const double held_out = std::min(runs / 11, static_cast<double>(kMostHeldOut));
  return {.traces = static_cast<std::uint64_t>(runs - held_out),
          .validation = static_cast<std::uint64_t>(held_out)};
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
  const Purpose purpose = job.recipe.network.purpose;
  const double trial = std::clamp(seconds / 40, 0.2, 10.0);
  const Stopwatch clock;
  // No training is faster than its simulator. Larger batches are faster, but few traces want small
  // ones: down from what the simulator would allow to what is there in the end.
  double speed = agreed(runs_per_second(job, *simulator, trial / 4, host), host.ranks());
  TrainingAmount amount = amount_of(speed * seconds);
  Network network = job.from ? *job.from : Network(job.recipe.network, job.recipe.training.seed);
  for (bool fits = false; !fits;) {
    const std::size_t batch_size = default_batch_size(amount.traces, purpose);
    speed =
        agreed(traces_per_second(job, batch_size, trial, *simulator, network, host), host.ranks());
    const double spent = agreed(clock.seconds(), host.ranks());
    amount = amount_of(speed * std::max(0.0, seconds - spent));
    fits = default_batch_size(amount.traces, purpose) >= batch_size;
  }
  if (amount.traces < kFewest) {
    throw InvalidArgument(fmt::format(
        "`budget`: '{}' gives {:.3g} traces a second, so {:.0f} s are too little to learn "
        "from; allow more, or store traces first (psn data generate), in several processes",
        job.model, speed, seconds));
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
