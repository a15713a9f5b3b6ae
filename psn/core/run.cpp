#include "psn/core/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "psn/base/error.h"
#include "psn/core/missing.h"

namespace psn {
namespace {

class Runner {
 public:
  Runner(Ensemble& ensemble, Guide& guide, Task& task, const RunOptions& options)
      : ensemble_(ensemble),
        guide_(guide),
        task_(task),
        options_(options),
        observations_(options.observations),
        lanes_(ensemble.width()) {}

  void run() {
    for (Slot slot = 0; slot < lanes_.size(); ++slot) start_next(slot);
    while (running_ > 0) {
      if (options_.cancelled && options_.cancelled->load(std::memory_order_relaxed)) return;
      if (options_.monitor && options_.monitor->stop.load(std::memory_order_relaxed)) {
        throw Interrupted();
      }
      samples_.clear();
      for (const Pending& pending : ensemble_.advance()) take(pending);
      choose();
    }
  }

 private:
  struct Lane {
    Ticket ticket;
    Trace trace;
  };

  void start_next(Slot slot) {
    const auto ticket = task_.next(slot);
    if (!ticket) return;
    lanes_[slot].ticket = *ticket;
    guide_.begin(slot, *ticket);
    ensemble_.start(slot, *ticket, Rng(options_.seed, ticket->trace, ticket->chain));
    ++running_;
  }

  void take(const Pending& pending) {
    switch (pending.role) {
      case Role::kSample:
        check(pending);
        if (options_.held && hold(pending)) break;
        if (const auto given = measured(pending)) {
          take_given(pending, *given);
        } else if (pending.control) {
          samples_.push_back(pending);
        } else {
          take_from_model(pending);
        }
        break;
      case Role::kObserve:
        take_observation(pending);
        break;
      case Role::kTag:
        if (pending.value->empty() || has_nan(*pending.value)) {
          fail(pending, fmt::format("tag of {}", pending.value->text()));
        }
        record(pending, *pending.value, 0);
        ensemble_.answer(pending.slot, {});
        break;
      case Role::kFactor: {
        const double log_weight = pending.value->scalar();
        if (!(log_weight < kInfinity)) fail(pending, fmt::format("factor of {}", log_weight));
        weigh_evidence(pending, log_weight);
        record(pending, *pending.value, log_weight);
        ensemble_.answer(pending.slot, {});
        break;
      }
      case Role::kFinish:
        finish(pending);
        break;
      case Role::kFail:
        abandon(pending);
        break;
    }
  }

  // One batched decision for all simulations that wait for a sample.
  void choose() {
    if (samples_.empty()) return;
    choices_.resize(samples_.size());
    guide_.choose(samples_, choices_);
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      settle(samples_[i], choices_[i]);
    }
  }

  // Weighs, records and hands over the value of a choice.
  void settle(const Pending& pending, const Choice& choice) {
    const double log_p = density(pending, choice.value);
    Trace& trace = lanes_[pending.slot].trace;
    if (choice.log_q && log_p == -kInfinity) {
      // The trace is ruled out. It runs to its end on a value that the model could have drawn: no
      // simulator is ever handed an impossible one.
      trace.log_weight = -kInfinity;
      return settle(pending, {pending.distribution->draw(*pending.rng), std::nullopt});
    }
    if (log_p == -kInfinity) {  // also what a draw of infinity or NaN has
      fail(pending, fmt::format("drew {}, which has no density under {}: its parameters are too "
                                "extreme",
                                choice.value.text(), pending.distribution->text()));
    }
    if (choice.log_q && !std::isfinite(*choice.log_q)) {
      fail(pending,
           fmt::format("{} was proposed with log density {}", choice.value.text(), *choice.log_q));
    }
    trace.log_joint += log_p;
    if (choice.log_q) trace.log_weight += log_p - *choice.log_q;
    record(pending, choice.value, log_p);
    ensemble_.answer(pending.slot, choice.value);
  }

  // Gives a latent the value that it is held at, if it is. Nothing is weighed: the law is that of
  // the program in which the value was set, not of runs in which it came out.
  bool hold(const Pending& pending) {
    const auto value = options_.held->find(*pending.address, pending.distribution->size());
    if (!value) return false;
    if (density(pending, *value) == -kInfinity) {
      fail(pending, fmt::format("it is held at {}, which {} cannot be", value->text(),
                                pending.distribution->text()));
    }
    if (pending.control) guide_.given(pending, *value);
    record(pending, *value, 0).given = true;
    ensemble_.answer(pending.slot, *value);
    return true;
  }

  // An uncontrolled sample, or an observation that nobody gave.
  void take_from_model(const Pending& pending) {
    if (const Value* old = guide_.replay(pending)) {
      settle(pending, {*old, 0.0});
    } else {
      settle(pending, {pending.distribution->draw(*pending.rng), std::nullopt});
    }
  }

  void take_observation(const Pending& pending) {
    if (pending.distribution) check(pending);
    if (const auto given = measured(pending)) return take_given(pending, *given);
    if (const Value* own = own_data(pending)) return take_given(pending, *own);
    if (!pending.distribution) {
      fail(pending, "an observation with neither a value nor a distribution");
    }
    take_from_model(pending);
  }

  // What the user observed here; nullopt: nothing, or nothing but gaps.
  std::optional<Value> measured(const Pending& pending) {
    const std::size_t components = pending.distribution ? pending.distribution->size() : 0;
    auto given = observations_.find(*pending.address, components);
    if (given && gaps(*given) == Gaps::kAll) given.reset();
    return given;
  }

  // The program's, which in a forward simulation is drawn instead, if it can be; so is what the
  // user left open.
  const Value* own_data(const Pending& pending) {
    if (!pending.value || pending.value->empty()) return nullptr;
    if (pending.distribution) {
      if (!options_.observations) return nullptr;
      if (observations_.find(*pending.address, pending.distribution->size())) return nullptr;
    }
    if (has_nan(*pending.value)) {
      fail(pending, fmt::format("observed value {}", pending.value->text()));
    }
    return pending.value;
  }

  // Evidence: an observation, or a latent at which the user put one.
  void take_given(const Pending& pending, const Value& given) {
    if (gaps(given) != Gaps::kNone) return take_with_gaps(pending, given);
    // Without a distribution the value is on record, but says nothing about the latents.
    const double log_p = pending.distribution ? density(pending, given) : 0;
    weigh_evidence(pending, log_p);
    hand_over(pending, given, log_p);
  }

  // What was not measured is integrated out of the evidence, and drawn for the program.
  void take_with_gaps(const Pending& pending, const Value& given) {
    if (!pending.distribution) fail(pending, "a value with gaps, and no distribution to fill them");
    const double log_p = density(pending, given, log_prob_of_present);
    weigh_evidence(pending, log_p);
    const Value filled = fill_gaps(*pending.distribution, given, *pending.rng);
    if (log_p > -kInfinity) {
      lanes_[pending.slot].trace.log_joint += density(pending, filled) - log_p;
    }
    hand_over(pending, filled, log_p);
  }

  void hand_over(const Pending& pending, const Value& given, double log_p) {
    if (pending.role == Role::kSample) {
      // As in settle(): the trace is ruled out, and its simulator gets a possible value.
      if (log_p == -kInfinity) {
        return settle(pending, {pending.distribution->draw(*pending.rng), std::nullopt});
      }
      if (pending.control) guide_.given(pending, given);
    }
    record(pending, given, log_p).given = true;
    ensemble_.answer(pending.slot, given);
  }

  void weigh_evidence(const Pending& pending, double log_p) {
    Trace& trace = lanes_[pending.slot].trace;
    trace.log_joint += log_p;
    trace.log_likelihood += log_p;
    trace.log_weight += log_p;
  }

  Entry& record(const Pending& pending, const Value& value, double log_p) {
    auto& entries = lanes_[pending.slot].trace.entries;
    if (entries.size() >= options_.max_length) {
      fail(pending, fmt::format("the trace is longer than {} choices; raise the limit if the "
                                "program is meant to run that long",
                                options_.max_length));
    }
    Entry& entry = entries.emplace_back(
        Entry{pending.address, pending.role, pending.control, false, log_p, value, nullptr});
    if (options_.keep_distributions && pending.distribution) {
      entry.distribution = std::make_shared<const Distribution>(*pending.distribution);
    }
    return entry;
  }

  void finish(const Pending& pending) {
    Lane& lane = lanes_[pending.slot];
    if (has_nan(*pending.value)) {
      throw ModelError(fmt::format("trace {}: the program returned {}", lane.ticket.trace,
                                   pending.value->text()));
    }
    lane.trace.result = *pending.value;
    --running_;
    task_.finished(pending.slot, lane.ticket, lane.trace);
    lane.trace.clear();
    if (options_.monitor) options_.monitor->traces.fetch_add(1, std::memory_order_relaxed);
    start_next(pending.slot);
  }

  void abandon(const Pending& pending) {
    Lane& lane = lanes_[pending.slot];
    --running_;
    lane.trace.clear();
    task_.failed(pending.slot, lane.ticket);
    start_next(pending.slot);
  }

  static bool has_nan(const Value& value) {
    return std::any_of(value.begin(), value.end(), [](double x) { return std::isnan(x); });
  }

  void check(const Pending& pending) const {
    if (!pending.distribution->valid()) fail(pending, *pending.distribution->problem());
  }

  using Density = double(const Distribution&, const Value&);
  static double log_prob(const Distribution& distribution, const Value& value) {
    return distribution.log_prob(value);
  }
  double density(const Pending& pending, const Value& value, Density* of = log_prob) const {
    double log_p = kNaN;
    try {
      log_p = of(*pending.distribution, value);
    } catch (const ModelError& error) {
      fail(pending, error.what());
    }
    if (!(log_p < kInfinity)) {
      fail(pending, fmt::format("{} has log density {} under {}", value.text(), log_p,
                                pending.distribution->text()));
    }
    return log_p;
  }

  [[noreturn]] void fail(const Pending& pending, std::string_view what) const {
    throw ModelError(fmt::format("trace {}, address '{}': {}", lanes_[pending.slot].ticket.trace,
                                 pending.address->text, what));
  }

  Ensemble& ensemble_;
  Guide& guide_;
  Task& task_;
  const RunOptions& options_;
  ObservationLookup observations_;
  std::vector<Lane> lanes_;
  std::size_t running_ = 0;
  std::vector<Pending> samples_;
  std::vector<Choice> choices_;
};

}  // namespace

void Task::failed(Slot, const Ticket& ticket) {
  throw ModelError(fmt::format("trace {}: the simulator did not finish it", ticket.trace));
}

Heartbeat* Monitor::add_thread() {
  const std::lock_guard lock(mutex_);
  return &heartbeats_.emplace_back();
}

void run(Ensemble& ensemble, Guide& guide, Task& task, const RunOptions& options) {
  // Says that this thread is at work, also while a guide draws; until the end, however it comes.
  struct AtWork {
    explicit AtWork(Heartbeat* h) : heartbeat(h) {
      if (heartbeat) heartbeat->running.store(true);
    }
    ~AtWork() {
      if (heartbeat) heartbeat->running.store(false);
    }
    AtWork(const AtWork&) = delete;
    AtWork& operator=(const AtWork&) = delete;
    Heartbeat* heartbeat;
  };
  const AtWork at_work(options.heartbeat || !options.monitor ? options.heartbeat
                                                             : options.monitor->add_thread());
  ensemble.watch(at_work.heartbeat);
  Runner(ensemble, guide, task, options).run();
}

}  // namespace psn
