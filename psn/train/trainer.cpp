#include "psn/train/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <numbers>

#include "psn/base/error.h"
#include "psn/train/batch.h"

namespace psn {
namespace {

constexpr std::uint32_t kTrainingChain = 0x747261, kValidationChain = 0x76616c,
                        kMissingChain = 0x6d6973;

void check(const TrainOptions& options) {
  const auto require = [](bool ok, const char* what) {
    if (!ok) throw InvalidArgument(what);
  };
  require(options.batch_size > 0, "batch_size must be positive");
  require(options.learning_rate > 0 && std::isfinite(options.learning_rate),
          "learning_rate must be positive");
  require(options.final_rate >= 0 && options.final_rate <= 1, "final_rate must be within [0, 1]");
  require(options.seconds >= 0, "seconds must not be negative");
  require(options.adam.clip_norm >= 0, "clip_norm must not be negative");
  require(options.missing >= 0 && options.missing < 1, "missing must be within [0, 1)");
}

class Trainer {
 public:
  Trainer(TraceSource& source, const std::vector<Trace>& held_out, Network& network,
          const TrainOptions& options, const ProgressSink& sink)
      : source_(source),
        held_out_(held_out),
        network_(network),
        options_(options),
        sink_(sink),
        growth_(network, options.inherit),
        gradient_(network),
        adam_(options.adam),
        checkpoint_(network) {
    // The logits after begin are single weights, where others are sums over a hidden layer that
    // moves as one: at the same rate they would take thousands of updates to find their place.
    if (network.infers()) return;
    adam_.set_rate_factor(network.node(Network::kBegin).transition,
                          static_cast<double>(network.config().transition_hidden_dim));
  }

  Progress run() {
    start_ = last_report_ = Clock::now();
    std::vector<Trace> traces;
    while (state_.traces < options_.traces && !stopped()) {
      source_.take(std::min<std::uint64_t>(options_.batch_size, options_.traces - state_.traces),
                   traces);
      if (traces.empty()) break;
      step(traces);
      state_.traces += traces.size();
      ++state_.batches;
      const bool validates = !held_out_.empty() && options_.validate_every &&
                             state_.batches % options_.validate_every == 0;
      if (validates) state_.validation = validate(network_, held_out_);
      if (validates || state_.batches % std::max<std::uint64_t>(1, options_.progress_every) == 0) {
        report();
      }
    }
    if (!held_out_.empty()) state_.validation = validate(network_, held_out_);
    report();
    return state_;
  }

 private:
  using Clock = std::chrono::steady_clock;

  static double seconds_between(Clock::time_point a, Clock::time_point b) {
    return std::chrono::duration<double>(b - a).count();
  }
  double elapsed() const { return seconds_between(start_, Clock::now()); }

  bool stopped() const {
    return (options_.monitor && options_.monitor->stop.load(std::memory_order_relaxed)) ||
           (options_.seconds > 0 && elapsed() >= options_.seconds);
  }

  double rate() const {
    if (options_.schedule == Schedule::kConstant) return options_.learning_rate;
    double done = static_cast<double>(state_.traces) / static_cast<double>(options_.traces);
    if (options_.seconds > 0) done = std::max(done, elapsed() / options_.seconds);
    const double cosine = 0.5 * (1 + std::cos(std::numbers::pi * std::min(1.0, done)));
    return options_.learning_rate * (options_.final_rate + (1 - options_.final_rate) * cosine);
  }

  void step(const std::vector<Trace>& traces) {
    growth_.absorb(traces);
    Batch batch = growth_.flatten(traces);
    if (options_.missing > 0) withhold(batch);
    const BatchLoss loss = gradient_.compute(batch, options_.loss);
    if (!std::isfinite(loss.loss)) fail(batch, loss.worst, "is not finite");
    if (state_.batches > 0 && loss.loss > best_ + options_.explosion) {
      fail(batch, loss.worst, fmt::format("exploded to {:.4g} nats per trace", loss.loss));
    }
    best_ = state_.batches ? std::min(best_, loss.loss) : loss.loss;
    state_.rate = rate();
    std::optional<Network> before;
    if (checkpoint_is_due()) before = network_;
    const double norm = adam_.update(network_.parameters(), state_.rate, gradient_.touched());
    if (!std::isfinite(norm)) fail(batch, loss.worst, "has a gradient that is not finite");
    if (before) checkpoint_ = *std::move(before);
    loss_sum_ += loss.loss;
    kl_sum_ += loss.kl;
    ++since_report_;
  }

  void withhold(Batch& batch) {
    Rng rng(options_.seed, state_.batches, kMissingChain);
    std::erase_if(batch.observed, [&](const Batch::ObservedValue& value) {
      network_.set_may_be_missing(value.node);
      return rng.uniform() < options_.missing;
    });
  }

  // A bad loss takes several updates to show, and its batch has grown and rescaled the network:
  // what is kept is from before, and has been seen to work. Often at first, when little is lost.
  bool checkpoint_is_due() const {
    constexpr std::uint64_t kEvery = 100;
    const std::uint64_t n = state_.batches;
    return n % kEvery == 0 || (n < kEvery && std::has_single_bit(n));
  }

  [[noreturn]] void fail(const Batch& batch, const Entry* worst, std::string_view what) {
    const std::string message =
        fmt::format("batch {} (traces {} to {}), address '{}': the loss {}", state_.batches,
                    state_.traces, state_.traces + batch.traces() - 1,
                    worst ? worst->address->text : network_.node(Network::kBegin).text, what);
    network_ = std::move(checkpoint_);
    throw ModelError(message);
  }

  void report() {
    const auto now = Clock::now();
    const auto count = static_cast<double>(std::max<std::uint64_t>(1, since_report_));
    state_.loss = loss_sum_ / count;
    state_.kl = kl_sum_ / count;
    state_.addresses = network_.size();
    state_.transitions = network_.transition_count();
    state_.seconds = elapsed();
    state_.traces_per_second = static_cast<double>(state_.traces - reported_traces_) /
                               std::max(1e-9, seconds_between(last_report_, now));
    if (sink_) sink_(state_);
    if (since_report_ == 0) return;
    reported_traces_ = state_.traces;
    last_report_ = now;
    since_report_ = 0;
    loss_sum_ = kl_sum_ = 0;
    if (state_.traces < options_.traces) state_.validation.reset();
  }

  TraceSource& source_;
  const std::vector<Trace>& held_out_;
  Network& network_;
  const TrainOptions& options_;
  const ProgressSink& sink_;
  Growth growth_;
  Gradient gradient_;
  Adam adam_;
  Network checkpoint_;
  Progress state_;
  double best_ = 0, loss_sum_ = 0, kl_sum_ = 0;
  std::uint64_t since_report_ = 0, reported_traces_ = 0;
  Clock::time_point start_, last_report_;
};

}  // namespace

Progress train_network(TraceSource& source, const std::vector<Trace>& held_out, Network& network,
                       const TrainOptions& options, const ProgressSink& progress) {
  check(options);
  return Trainer(source, held_out, network, options, progress).run();
}

Progress train_online(Simulator& simulator, Network& network, const TrainOptions& options,
                      const ProgressSink& progress) {
  // Held-out traces come first: a simulator may allow only one user at a time.
  const std::vector<Trace> held_out = held_out_traces(simulator, options);
  TraceStream stream(simulator, training_stream(options));
  return train_network(stream, held_out, network, options, progress);
}

StreamOptions training_stream(const TrainOptions& options, const Share& share,
                              std::uint64_t first) {
  return {options.seed,
          kTrainingChain,
          options.traces,
          std::max<std::size_t>(2048, 3 * options.batch_size),
          options.max_length,
          options.simulation,
          share,
          first};
}

std::vector<Trace> held_out_traces(Simulator& simulator, const TrainOptions& options) {
  const auto count = static_cast<std::size_t>(options.validation_traces);
  if (count == 0) return {};
  TraceStream stream(simulator, {.seed = options.seed,
                                 .chain = kValidationChain,
                                 .count = count,
                                 .ahead = count,
                                 .max_length = options.max_length,
                                 .parallelism = options.simulation});
  std::vector<Trace> traces;
  stream.take(count, traces);
  return traces;
}

Validation validate(const Network& network, const std::vector<Trace>& traces) {
  Network copy = network;
  Growth growth(copy);
  Gradient gradient(copy);
  Validation result;
  constexpr std::size_t kChunk = 512;
  double sum = 0, squares = 0, log_sum = 0;
  std::vector<double> log_s;
  for (std::size_t first = 0; first < traces.size(); first += kChunk) {
    const std::span chunk(traces.data() + first, std::min(kChunk, traces.size() - first));
    growth.learn_names(chunk);
    result.unseen += growth.unseen();
    gradient.evaluate(growth.flatten(chunk), &log_s);
    for (std::size_t i = 0; i < chunk.size(); ++i) {
      const double difference = (network.infers() ? 0 : chunk[i].log_joint) - log_s[i];
      log_sum += log_s[i];
      sum += difference;
      squares += difference * difference;
    }
  }
  const auto n = static_cast<double>(traces.size());
  result.traces = traces.size();
  if (traces.empty()) return result;
  const double mean = sum / n;
  result.loss = -log_sum / n;
  result.kl = network.infers() ? 0 : mean;
  result.standard_error = std::sqrt(std::max(0.0, squares / n - mean * mean) / n);
  return result;
}

Preset preset(std::string_view name, Purpose purpose) {
  Preset result;
  result.network.purpose = purpose;
  if (name == "paper") {
    result.training.loss = Loss::kNegativeLogLikelihood;
    result.training.learning_rate = 5e-4;
    result.training.schedule = Schedule::kConstant;
    return result;
  }
  if (name == "default") {
    if (purpose == Purpose::kSurrogate) result.network.addressing = Addressing::kShared;
    result.training.adam.touched_only = true;
    result.training.batch_size = 256;
    result.training.learning_rate = 4e-3;
    result.training.inherit = true;
    return result;
  }
  throw InvalidArgument(
      fmt::format("there is no preset '{}'; there are 'paper' and 'default'", name));
}

}  // namespace psn
