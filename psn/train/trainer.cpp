#include "psn/train/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <optional>
#include <utility>

#include "psn/train/growth.h"
#include "psn/train/linear_baseline.h"
#include "psn/train/parts.h"
#include "psn/train/rank_checks.h"

namespace psn {
namespace {

constexpr std::uint32_t kMissingChain = 0x6d6973;

class Trainer {
 public:
  Trainer(TraceSource& source, const std::vector<Trace>& held_out, Network& network,
          const TrainOptions& options, const ProgressSink& sink)
      : source_(source),
        held_out_(held_out),
        network_(network),
        options_(options),
        sink_(sink),
        growth_(network, options.inherit, options.network_bytes()),
        gradient_(network),
        adam_(options.adam),
        ranks_(options.ranks ? *options.ranks : alone_),
        share_{ranks_.rank(), ranks_.size(), options.batch_size},
        fallback_(network) {
    share_.check();
    if (options.resume) {
      network.parameters().clear_gradients();  // of whatever was computed before
      restore(*options.resume);
    } else {
      network.parameters().restart();
    }
  }

  Progress run() {
    const Unsaved unsaved(options_.monitor);
    std::vector<Trace> traces;
    while (!finished()) {
      before_.reset();
      if (parts_ > 1 && ranks_.alone()) before_ = Before{network_, growth_.state()};
      const std::size_t count = take(traces);
      if (count == 0) break;
      if (!step(traces, count)) return abandon();
      state_.traces += count;
      ++state_.batches;
      if (options_.batch_done) {
        options_.batch_done(state_.traces, mean(state_.loss_sum), mean(state_.kl_sum));
      }
      constexpr std::uint64_t kCompareEvery = 100;
      if (state_.batches % kCompareEvery == 0) require_same(ranks_, network_.parameters());
      const bool validates = !held_out_.empty() && options_.validate_every &&
                             state_.batches % options_.validate_every == 0;
      if (validates) {
        report(consider(validate(network_, held_out_, options_.memory_mb)));
      } else if (state_.batches % std::max<std::uint64_t>(1, options_.progress_every) == 0) {
        report();
      }
      if (seconds_since(last_checkpoint_) >= options_.checkpoint_every) checkpoint();
      if (!finished() && stopped()) return stop();
    }
    return finish();
  }

 private:
  using Clock = std::chrono::steady_clock;

  static double seconds_since(Clock::time_point then) {
    return std::chrono::duration<double>(Clock::now() - then).count();
  }

  void restore(const TrainingState& state) {
    state_ = state;
    growth_.restore(std::move(state_.growth));
    adam_.restore(std::move(state_.last_updates));
    reported_traces_ = state_.traces;
  }

  bool finished() const {
    return state_.traces >= options_.traces ||
           (options_.patience > 0 && state_.plateau.stale >= options_.patience);
  }
  bool interrupted() const {
    return options_.monitor && options_.monitor->stop.load(std::memory_order_relaxed);
  }
  bool stopped() const { return ranks_.alone() ? wants_to_stop() : stop_; }
  bool wants_to_stop() const {
    return interrupted() || (options_.seconds > 0 && seconds_since(start_) >= options_.seconds);
  }

  // This rank's part of the next batch, the network grown by what is new in all parts. Returns how
  // many traces these have.
  std::size_t take(std::vector<Trace>& traces) {
    std::vector<Novelties> all;
    try {
      all = exchange(ranks_, look(traces), network_.config());
    } catch (const Error&) {
      checkpoint();  // nothing has been changed yet
      throw;
    }
    std::size_t count = 0;
    for (const Novelties& part : all) {
      count += part.traces;
      stop_ |= part.stop;
    }
    growth_.apply(std::move(all));
    return count;
  }

  Novelties look(std::vector<Trace>& traces) {
    const std::uint64_t end = std::min(state_.traces + options_.batch_size, options_.traces);
    Novelties novelties;
    try {
      source_.take(share_.count_of(end) - share_.count_of(state_.traces), traces);
      novelties = growth_.look(traces);
    } catch (const Error& error) {
      if (ranks_.alone()) throw;
      novelties.error = error.what();
    }
    novelties.stop = wants_to_stop();
    return novelties;
  }

  void set_rates() {
    const RateRules& rules = options_.rate_rules;
    const auto wide = static_cast<double>(rules.wide_inputs);
    for (; rated_ < network_.size(); ++rated_) {
      const Node& node = network_.node(rated_);
      if (rated_ == Network::kBegin && !network_.infers() && rules.begin) {
        adam_.set_rate_factor(node.transition,
                              static_cast<double>(network_.config().transition_hidden_dim));
      }
      const auto inputs = static_cast<double>(node.value.inputs());
      if (wide == 0 || inputs <= wide) continue;
      if (node.embedding != kNoBlock) {
        adam_.set_rate_factor(node.embedding, wide / inputs);
      }
      if (!node.observation_layers.empty() && node.convolutions.empty()) {
        adam_.set_rate_factor(node.observation_layers.front(), wide / inputs);
      }
      if (node.observation_skip != kNoBlock) {
        adam_.set_rate_factor(node.observation_skip, wide / inputs);
      }
    }
  }

  // The gradient of this rank's traces, part by part. nullopt: it was time to stop between two.
  std::optional<BatchLoss> differentiate(const std::vector<Trace>& traces, std::size_t count) {
    std::optional<BatchLoss> sum{std::in_place};
    gradient_.clear();
    parts_ = each_part(network_, growth_, traces, options_.memory_mb,
                       [&](Batch& batch, std::size_t first) {
                         if (before_ && first > 0 && wants_to_stop()) sum.reset();
                         if (!sum) return false;
                         if (options_.missing > 0) withhold(batch, first);
                         sum->add(gradient_.accumulate(batch, options_.loss, count));
                         return true;
                       });
    return sum;
  }

  // Returns whether there was time for it.
  bool step(const std::vector<Trace>& traces, std::size_t count) {
    set_rates();
    std::optional<BatchLoss> sum = differentiate(traces, count);
    if (!sum) return false;
    BatchLoss& loss = *sum;
    gradient_.add_up(ranks_, loss);
    if (!std::isfinite(loss.loss)) fail(loss, count, "is not finite");
    if (state_.batches > 0 && loss.loss > state_.lowest_loss + options_.explosion) {
      fail(loss, count, fmt::format("exploded to {:.4g} nats per trace", loss.loss));
    }
    state_.lowest_loss = state_.batches ? std::min(state_.lowest_loss, loss.loss) : loss.loss;
    const double done = static_cast<double>(state_.traces) / static_cast<double>(options_.traces);
    state_.rate = rate_at(options_.rate, done, state_.plateau);
    std::optional<Network> before;
    if (fallback_is_due()) before = network_;
    const double norm = adam_.update(network_.parameters(), state_.rate, gradient_.touched());
    if (!std::isfinite(norm)) fail(loss, count, "has a gradient that is not finite");
    if (before) fallback_ = *std::move(before);
    if (state_.batches == state_.reported) {
      state_.loss_sum = state_.kl_sum = 0;
      state_.first_summed = state_.batches;
    }
    state_.loss_sum += loss.loss;
    state_.kl_sum += loss.kl;
    return true;
  }

  // As if the batch had not been taken.
  Progress abandon() {
    network_ = std::move(before_->network);
    growth_.restore(std::move(before_->growth));
    return stop();
  }

  // `first`: of the batch's traces, in this rank's part of them.
  void withhold(Batch& batch, std::size_t first) {
    for (NodeId id = 0; id < network_.size(); ++id) {
      if (network_.is_observation(id)) network_.set_may_be_missing(id);
    }
    const std::uint64_t before = share_.count_of(state_.traces) + first;
    std::erase_if(batch.observed, [&](const Batch::ObservedValue& value) {
      const std::uint64_t trace = share_.index(before + batch.trace[value.position]);
      const Rng rng(options_.seed, trace, kMissingChain);
      return rng.fork(value.node).uniform() < options_.missing;
    });
  }

  // A bad loss takes several updates to show, and its batch has grown and rescaled the network:
  // what is kept is from before, and has been seen to work. Often at first, when little is lost.
  bool fallback_is_due() const {
    constexpr std::uint64_t kEvery = 100;
    const std::uint64_t n = state_.batches;
    return n % kEvery == 0 || (n < kEvery && std::has_single_bit(n));
  }

  [[noreturn]] void fail(const BatchLoss& loss, std::size_t count, std::string_view what) {
    const std::string worst = worst_address(ranks_, loss);
    const std::string message =
        fmt::format("batch {} (traces {} to {}), address '{}': the loss {}", state_.batches,
                    state_.traces, state_.traces + count - 1,
                    worst.empty() ? network_.node(Network::kBegin).text : worst, what);
    network_ = std::move(fallback_);
    throw TrainingFailed(message);
  }

  Validation consider(const Validation& validation) {
    if (state_.plateau.add(validation, options_.rate)) {
      auto best = std::make_shared<Network>(network_);
      best->parameters().drop_training_planes();
      state_.best = std::move(best);
    }
    return validation;
  }

  double seconds() const { return state_.seconds + seconds_since(start_); }

  void checkpoint() {
    last_checkpoint_ = Clock::now();
    if (!options_.checkpoint || state_.batches == 0) return;
    TrainingState now = state_;
    now.seconds = seconds();
    now.growth = growth_.state();
    now.last_updates = adam_.last_updates();
    options_.checkpoint(now);
  }

  Progress stop() {
    checkpoint();
    return measured({});  // held-out traces might take longer than there is time
  }

  Progress finish() {
    require_same(ranks_, network_.parameters());
    progress_.finished = true;
    if (held_out_.empty()) return report();
    Validation last = validate(network_, held_out_, options_.memory_mb);
    if (network_.infers()) {
      if (const auto gain = linear_gain(held_out_)) last.linear_loss = last.prior_loss - *gain;
    }
    if (!state_.best || last.loss < state_.plateau.best->loss) return report(last);
    network_ = *state_.best;
    Validation best = *state_.plateau.best;
    best.prior_loss = last.prior_loss;  // checkpoints do not keep these
    best.linear_loss = last.linear_loss;
    best.remote_observation = last.remote_observation;
    return report(best);
  }

  double mean(double sum) const {
    return sum /
           static_cast<double>(std::max<std::uint64_t>(1, state_.batches - state_.first_summed));
  }

  const Progress& report(const std::optional<Validation>& validation = std::nullopt) {
    measured(validation);
    if (sink_) sink_(progress_);
    return progress_;
  }

  const Progress& measured(const std::optional<Validation>& validation) {
    progress_.batches = state_.batches;
    progress_.traces = state_.traces;
    progress_.loss = mean(state_.loss_sum);
    progress_.kl = mean(state_.kl_sum);
    progress_.rate = state_.rate;
    progress_.addresses = network_.size();
    progress_.transitions = network_.transition_count();
    progress_.seconds = seconds();
    progress_.validation = validation;
    if (state_.batches > state_.reported) {
      progress_.traces_per_second = static_cast<double>(state_.traces - reported_traces_) /
                                    std::max(1e-9, seconds_since(last_report_));
      last_report_ = Clock::now();
    }
    state_.reported = state_.batches;
    reported_traces_ = state_.traces;
    return progress_;
  }

  TraceSource& source_;
  const std::vector<Trace>& held_out_;
  Network& network_;
  const TrainOptions& options_;
  const ProgressSink& sink_;
  Growth growth_;
  Gradient gradient_;
  Adam adam_;
  NodeId rated_ = 0;  // those before it have their rates
  Communicator alone_;
  Communicator& ranks_;
  const Share share_;
  bool stop_ = false;  // some rank wants to
  Network fallback_;
  struct Before {
    Network network;
    GrowthState growth;
  };
  // Of a batch that may take long, as the last did: what there was before it. Not of the first, so
  // that something is learned each time.
  std::optional<Before> before_;
  std::size_t parts_ = 1;  // of the last batch
  TrainingState state_;    // growth and Adam know their own part
  Progress progress_;
  std::uint64_t reported_traces_ = 0;
  const Clock::time_point start_ = Clock::now();
  Clock::time_point last_report_ = start_, last_checkpoint_ = start_;
};

}  // namespace

Progress train_network(TraceSource& source, const std::vector<Trace>& held_out, Network& network,
                       const TrainOptions& options, const ProgressSink& progress) {
  check(options);
  return Trainer(source, held_out, network, options, progress).run();
}

}  // namespace psn
