#include "psn/infer/metropolis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "psn/base/error.h"
#include "psn/core/visits.h"

namespace psn {
namespace {

constexpr std::uint64_t kMaxStartAttempts = 10'000;
// Streams of a chain: traces use its iteration numbers, decisions (which site, accept) this one.
constexpr std::uint64_t kDecisionStream = ~std::uint64_t{0};

double reflect(double x, const Support& support) {
  const bool below = std::isfinite(support.low);
  const bool above = std::isfinite(support.high);
  if (below && above) {
    const double width = support.high - support.low;
    double offset = std::fmod(std::abs(x - support.low), 2 * width);
    if (offset > width) offset = 2 * width - offset;
    return support.low + offset;
  }
  if (below) return support.low + std::abs(x - support.low);
  if (above) return support.high - std::abs(x - support.high);
  return x;
}

// Step sizes of the random walk, one per address, tuned to an acceptance rate during burn-in
// (Robbins-Monro).
class StepSizes {
 public:
  explicit StepSizes(double first) : first_log_(std::log(first)) {}

  double at(const Address& address) const {
    return std::exp(address.id < sites_.size() ? sites_[address.id].log_step.value_or(first_log_)
                                               : first_log_);
  }
  void adapt(const Address& address, double acceptance, std::size_t components) {
    if (address.id >= sites_.size()) sites_.resize(address.id + 1);
    Site& site = sites_[address.id];
    const double target = components == 1 ? 0.44 : 0.234;  // Roberts and Rosenthal (2001)
    site.updates += 1;
    site.log_step = site.log_step.value_or(first_log_) +
                    (acceptance - target) * std::pow(site.updates, -0.6) * 2;
  }

 private:
  struct Site {
    std::optional<double> log_step;
    double updates = 0;
  };
  double first_log_;
  std::vector<Site> sites_;
};

// One Markov chain: its current trace and the proposal under way.
class Chain {
 public:
  Chain(std::uint32_t id, const MetropolisOptions& options)
      : options_(options),
        id_(id),
        decisions_(options.seed, kDecisionStream, id + 1),
        steps_(options.step) {}

  std::uint32_t id() const { return id_; }
  std::uint64_t iteration() const { return iteration_; }
  const Trace& current() const { return current_; }

  // Decides which site the next run changes.
  Ticket propose() {
    kept_ = 0;
    cursor_ = 0;
    walked_ = 0;
    reached_ = false;
    run_visits_.restart();
    if (started_) {
      const std::size_t candidates = candidate_count();
      const std::size_t pick = candidates == 0 ? 0 : decisions_.below(candidates);
      chosen_ = pick < sites_.size() ? &current_.entries[sites_[pick]] : nullptr;
      walk_ = options_.random_walk && decisions_.uniform() >= options_.prior_share;
    }
    return {runs_++, id_ + 1};
  }

  Choice choose(const Pending& request) {
    const Entry* old = started_ ? find(request.address, Class::kControlled) : nullptr;
    if (!old) return {request.distribution->draw(*request.rng), std::nullopt};
    if (old == chosen_) {
      reached_ = true;
      std::optional<Value> step =
          walk_ && unchanged(request, *old) ? walk(request, old->value) : std::nullopt;
      if (!step) return {request.distribution->draw(*request.rng), std::nullopt};
      // The walk is symmetric, so its density cancels from the acceptance ratio.
      kept_ += old->log_prob;
      walked_ = step->size();
      return {*std::move(step), 0.0};
    }
    kept_ += old->log_prob;
    return {old->value, 0.0};
  }

  const Value* replay(const Pending& request) {
    const Entry* old = started_ && chosen_ ? find(request.address, Class::kUncontrolled) : nullptr;
    if (!old) return nullptr;
    kept_ += old->log_prob;
    return &old->value;
  }

  // The proposal could not be run to its end: rejected.
  void fail() { started_ ? void(++iteration_) : count_start_attempt(); }

  // Accepts or rejects; true if the chain moved. The start counts as a move.
  bool finish(Trace& trace) {
    if (!started_) {
      if (trace.log_likelihood == -kInfinity) {
        count_start_attempt();
        return false;
      }
      accept(trace);
      started_ = true;
      return true;
    }
    // Wingate et al.'s ratio. Draws from the prior cancel against their own density, in both
    // directions: trace.log_weight holds the kept choices and the evidence of the new trace.
    const std::size_t before = std::max<std::size_t>(1, candidate_count());
    double log_ratio = trace.log_weight - (current_.log_likelihood + kept_) +
                       std::log(static_cast<double>(before)) -
                       std::log(static_cast<double>(std::max<std::size_t>(1, count(trace))));
    // A program reaches the chosen site again. A surrogate draws its way anew and may miss it; then
    // no proposal at that site leads back.
    if (chosen_ ? !reached_ : has_uncontrolled_ && !has_uncontrolled(trace)) log_ratio = -kInfinity;
    if (walked_ > 0 && iteration_ < options_.burn_in) {
      steps_.adapt(*chosen_->address, std::min(1.0, std::exp(log_ratio)), walked_);
    }
    ++iteration_;
    const bool accepted = std::log(decisions_.uniform()) < log_ratio;
    if (accepted) accept(trace);
    return accepted;
  }

 private:
  void count_start_attempt() {
    if (++attempts_ < kMaxStartAttempts) return;
    throw ModelError(
        fmt::format("chain {} found no trace with non-zero likelihood in {} draws from the prior",
                    id_, kMaxStartAttempts));
  }

  std::size_t candidate_count() const { return sites_.size() + (has_uncontrolled_ ? 1 : 0); }

  // How an entry may change. A value is kept only for a choice of the same class: an observation
  // that was given in one trace and is missing in the other is another kind of thing.
  enum class Class { kControlled, kUncontrolled, kFixed };
  static Class class_of(const Entry& entry) {
    if (entry.given) return Class::kFixed;
    if (entry.role == Role::kSample) {
      return entry.control ? Class::kControlled : Class::kUncontrolled;
    }
    return entry.role == Role::kObserve ? Class::kUncontrolled : Class::kFixed;
  }

  static bool has_uncontrolled(const Trace& trace) {
    return std::any_of(trace.entries.begin(), trace.entries.end(),
                       [](const Entry& entry) { return class_of(entry) == Class::kUncontrolled; });
  }

  static std::size_t count(const Trace& trace) {
    std::size_t sites = 0;
    for (const Entry& entry : trace.entries) sites += class_of(entry) == Class::kControlled;
    return sites + (has_uncontrolled(trace) ? 1 : 0);
  }

  void accept(Trace& trace) {
    std::swap(current_, trace);
    ++version_;
    indexed_ = false;
    sites_.clear();
    has_uncontrolled_ = false;
    visits_.assign(current_.entries.size(), 0);
    run_visits_.restart();
    for (std::size_t i = 0; i < current_.entries.size(); ++i) {
      const Entry& entry = current_.entries[i];
      const Class type = class_of(entry);
      if (type == Class::kFixed) continue;
      visits_[i] = run_visits_.count(entry.address->id);
      if (type == Class::kControlled) sites_.push_back(i);
      has_uncontrolled_ |= type == Class::kUncontrolled;
    }
  }

  // The current trace's entry for this visit of an address. A program visits an address once; a
  // surrogate may come back to it, and the first visit then stands for the first, and so on. Runs
  // mostly follow the old trace in order, so the next entry is tried first; the index is built only
  // when that fails.
  const Entry* find(const Address* address, Class wanted) {
    const auto& entries = current_.entries;
    const std::uint32_t visit = run_visits_.count(address->id);
    const auto is_it = [&](std::size_t i) {
      return entries[i].address == address && visits_[i] == visit;
    };
    while (cursor_ < entries.size() && class_of(entries[cursor_]) == Class::kFixed) ++cursor_;
    if (cursor_ == entries.size() || !is_it(cursor_)) {
      if (!indexed_) build_index();
      if (address->id >= index_.size() || index_[address->id].version != version_) return nullptr;
      std::size_t at = index_[address->id].position;
      while (at < entries.size() && !is_it(at)) ++at;
      if (at == entries.size()) return nullptr;
      cursor_ = at;
    }
    const Entry& found = entries[cursor_++];
    return class_of(found) == wanted ? &found : nullptr;
  }

  void build_index() {
    for (std::size_t i = 0; i < current_.entries.size(); ++i) {
      if (visits_[i] != 1) continue;  // later ones are found from the first on
      const std::uint32_t address = current_.entries[i].address->id;
      if (address >= index_.size()) index_.resize(address + 1);
      index_[address] = {version_, i};
    }
    indexed_ = true;
  }

  // Is the distribution the one that the current value came from? A program comes to the chosen
  // site as before. A surrogate may come by another way, where the step would have another size
  // than on the way back; then the prior proposes, in both directions.
  static bool unchanged(const Pending& request, const Entry& old) {
    return request.distribution->log_prob(old.value) == old.log_prob;
  }

  // A random-walk step from `from`; nullopt where only the prior can propose.
  std::optional<Value> walk(const Pending& request, const Value& from) const {
    const Distribution& distribution = *request.distribution;
    if (distribution.discrete()) return std::nullopt;
    const Value variance = distribution.variance();
    const double step = steps_.at(*request.address) / std::sqrt(static_cast<double>(from.size()));
    std::vector<double> to(from.size());
    for (std::size_t i = 0; i < to.size(); ++i) {
      if (!(variance[i] > 0) || !std::isfinite(variance[i])) return std::nullopt;
      to[i] = reflect(from[i] + step * std::sqrt(variance[i]) * request.rng->normal(),
                      distribution.support(i));
    }
    return Value(std::move(to), from.shape());
  }

  const MetropolisOptions& options_;
  std::uint32_t id_;
  Rng decisions_;
  StepSizes steps_;

  Trace current_;
  bool started_ = false;
  std::vector<std::size_t> sites_;  // entries that may be chosen
  bool has_uncontrolled_ = false;
  struct Position {
    std::uint64_t version = 0;
    std::size_t position = 0;
  };
  std::vector<Position> index_;        // by address id; entries of older versions are stale
  std::vector<std::uint32_t> visits_;  // by entry: its visit of the address; 0 for what is fixed
  Visits run_visits_;
  std::uint64_t version_ = 0;
  bool indexed_ = false;

  const Entry* chosen_ = nullptr;  // null: the uncontrolled choices together
  bool walk_ = false;
  bool reached_ = false;    // the run came to the chosen site
  std::size_t walked_ = 0;  // components of the random-walk step taken in this run
  double kept_ = 0;         // log p, in the current trace, of the choices that the run kept
  std::size_t cursor_ = 0;

  std::uint64_t runs_ = 0;
  std::uint64_t attempts_ = 0;
  std::uint64_t iteration_ = 0;
};

// The chains of one thread: each slot of the ensemble works on one chain until it is done.
class ChainTask : public Guide, public Task {
 public:
  ChainTask(const MetropolisOptions& options, std::uint64_t samples_per_chain, std::size_t width,
            std::atomic<std::uint32_t>& next_chain, Posterior& posterior)
      : options_(options),
        samples_(samples_per_chain),
        next_chain_(next_chain),
        posterior_(posterior),
        slots_(width),
        last_row_(width) {}

  std::optional<Ticket> next(Slot slot) override {
    auto& chain = slots_[slot];
    if (!chain || chain->iteration() == options_.burn_in + samples_ * options_.thinning) {
      const std::uint32_t id = next_chain_.fetch_add(1);
      if (id >= options_.chains) {
        chain.reset();
        return std::nullopt;
      }
      chain.emplace(static_cast<std::uint32_t>(options_.first) + id, options_);
      last_row_[slot].reset();
    }
    return chain->propose();
  }

  void choose(std::span<const Pending> requests, std::span<Choice> choices) override {
    for (std::size_t i = 0; i < requests.size(); ++i) {
      choices[i] = slots_[requests[i].slot]->choose(requests[i]);
    }
  }

  const Value* replay(const Pending& request) override {
    return slots_[request.slot]->replay(request);
  }

  void finished(Slot slot, const Ticket&, Trace& trace) override {
    const std::uint64_t before = slots_[slot]->iteration();
    const bool moved = slots_[slot]->finish(trace);
    if (moved) last_row_[slot].reset();
    count(slot, before, moved);
  }

  void failed(Slot slot, const Ticket&) override {
    const std::uint64_t before = slots_[slot]->iteration();
    slots_[slot]->fail();
    count(slot, before, false);
  }

  std::uint64_t iterations = 0;
  std::uint64_t kept_iterations = 0;
  std::uint64_t accepted = 0;

 private:
  void count(Slot slot, std::uint64_t before, bool moved) {
    const Chain& chain = *slots_[slot];
    if (chain.iteration() == before) return;  // still looking for a start, or just found it
    ++iterations;
    if (chain.iteration() <= options_.burn_in) return;
    ++kept_iterations;
    accepted += moved;
    const std::uint64_t since = chain.iteration() - options_.burn_in;
    if (since % options_.thinning == 0) keep(slot, chain, since / options_.thinning - 1);
  }

  void keep(Slot slot, const Chain& chain, std::uint64_t sample) {
    const std::size_t row = (chain.id() - options_.first) * samples_ + sample;
    if (last_row_[slot]) {
      posterior_.put_again(row, *last_row_[slot]);
    } else {
      posterior_.put(row, chain.current(), 0);
    }
    last_row_[slot] = row;
    if (options_.draws) options_.draws->offer(chain.id() * samples_ + sample, chain.current(), 0);
  }

  const MetropolisOptions& options_;
  std::uint64_t samples_;
  std::atomic<std::uint32_t>& next_chain_;
  Posterior& posterior_;
  std::vector<std::optional<Chain>> slots_;
  std::vector<std::optional<std::size_t>> last_row_;  // where the chain's current state was put
};

}  // namespace

MetropolisResult metropolis_hastings(Simulator& simulator, const Observations& observations,
                                     const MetropolisOptions& options) {
  if (options.chains == 0 || options.thinning == 0 || options.samples < options.chains) {
    throw InvalidArgument(
        "chains and thinning must be at least 1, and samples at least one a chain");
  }
  const std::uint64_t per_chain = (options.samples + options.chains - 1) / options.chains;
  MetropolisResult result{
      Posterior(options.queries, per_chain * options.chains, options.keep_traces)};
  result.posterior.set_chains(options.chains);
  const Parallelism used = effective(options.parallelism, simulator, options.chains);
  std::atomic<std::uint32_t> next_chain{0};
  std::atomic<std::uint64_t> iterations{0}, kept{0}, accepted{0};
  on_threads(used.threads, [&](const std::atomic<bool>& cancelled) {
    const auto ensemble = simulator.ensemble(used.width);
    RunOptions run_options = options.run_options(&observations);
    run_options.cancelled = &cancelled;
    ChainTask chains(options, per_chain, used.width, next_chain, result.posterior);
    run(*ensemble, chains, chains, run_options);
    iterations += chains.iterations;
    kept += chains.kept_iterations;
    accepted += chains.accepted;
  });
  result.iterations = iterations;
  result.acceptance = static_cast<double>(accepted) / static_cast<double>(kept);
  return result;
}

}  // namespace psn
