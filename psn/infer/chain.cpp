#include "psn/infer/chain.h"

#include <fmt/format.h>

#include <algorithm>

#include "psn/base/error.h"
#include "psn/base/numerics.h"
#include "psn/infer/random_walk.h"

namespace psn {
double StepSizes::at(const Address& address) const {
  const bool adapted = address.id < sites_.size() && sites_[address.id].address;
  return std::exp(adapted ? sites_[address.id].log_step : first_log_);
}

StepSizes::Site& StepSizes::site(const Address& address) {
  if (address.id >= sites_.size()) sites_.resize(address.id + 1);
  Site& site = sites_[address.id];
  if (!site.address) site = {&address, first_log_, 0};
  return site;
}

void StepSizes::adapt(const Address& address, double acceptance, std::size_t components) {
  Site& adapted = site(address);
  const double target = components == 1 ? 0.44 : 0.234;  // Roberts and Rosenthal (2001)
  adapted.updates += 1;
  adapted.log_step += (acceptance - target) * std::pow(adapted.updates, -0.6) * 2;
}

std::vector<ChainState::Step> StepSizes::adapted() const {
  std::vector<ChainState::Step> steps;
  for (const Site& site : sites_) {
    if (site.address) steps.push_back({site.address, site.log_step, site.updates});
  }
  return steps;
}

void StepSizes::restore(const std::vector<ChainState::Step>& steps) {
  for (const auto& [address, log_step, updates] : steps) {
    site(*address) = {address, log_step, updates};
  }
}

Chain::Chain(std::uint32_t id, const MetropolisOptions& options)
    : options_(options),
      id_(id),
      decisions_(options.seed, kDecisionStream, id + 1),
      steps_(options.step) {}

Chain::Chain(const ChainState& state, const MetropolisOptions& options) : Chain(state.id, options) {
  runs_ = state.runs;
  attempts_ = state.attempts;
  iteration_ = state.iteration;
  accepted_ = state.accepted;
  decisions_.move_to(state.decisions);
  steps_.restore(state.steps);
  started_ = state.started;
  if (!started_) return;
  Trace trace = state.current;
  accept(trace);
}

ChainState Chain::state() const {
  return {.id = id_,
          .runs = runs_ - (proposed_ ? 1 : 0),
          .attempts = attempts_,
          .iteration = iteration_,
          .accepted = accepted_,
          .decisions = proposed_ ? decisions_before_ : decisions_.position(),
          .started = started_,
          .current = current_,
          .steps = steps_.adapted()};
}

Ticket Chain::propose() {
  proposed_ = true;
  decisions_before_ = decisions_.position();
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

Choice Chain::choose(const Pending& request) {
  const Entry* old = started_ ? find(request.address, Class::kControlled) : nullptr;
  if (!old) return {request.distribution->draw(*request.rng), std::nullopt};
  if (old == chosen_) {
    reached_ = true;
    std::optional<WalkStep> step;
    if (walk_ && unchanged(request, *old)) {
      step =
          random_walk(*request.distribution, old->value, steps_.at(*request.address), *request.rng);
    }
    if (!step) return {request.distribution->draw(*request.rng), std::nullopt};
    kept_ += old->log_prob;
    walked_ = step->to.size();
    return {std::move(step->to), step->log_ratio};
  }
  kept_ += old->log_prob;
  return {old->value, 0.0};
}

const Value* Chain::replay(const Pending& request) {
  const Entry* old = started_ && chosen_ ? find(request.address, Class::kUncontrolled) : nullptr;
  if (!old) return nullptr;
  kept_ += old->log_prob;
  return &old->value;
}

void Chain::fail() {
  proposed_ = false;
  started_ ? void(++iteration_) : count_start_attempt();
}

void Chain::move_to(Trace trace) {
  accept(trace);
  started_ = true;
}

bool Chain::finish(Trace& trace, bool adapts) {
  proposed_ = false;
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
  if (walked_ > 0 && adapts) {
    steps_.adapt(*chosen_->address, std::min(1.0, std::exp(log_ratio)), walked_);
  }
  ++iteration_;
  const bool accepted = std::log(decisions_.uniform()) < log_ratio;
  if (accepted) accept(trace);
  accepted_ += accepted && iteration_ > options_.burn_in;
  return accepted;
}

void Chain::count_start_attempt() {
  if (++attempts_ < options_.start_attempts) return;
  throw ModelError(
      fmt::format("chain {} found no trace with non-zero likelihood in {} draws from the prior",
                  id_, options_.start_attempts));
}

Chain::Class Chain::class_of(const Entry& entry) {
  if (entry.given) return Class::kFixed;
  if (entry.role == Role::kSample) {
    return entry.control ? Class::kControlled : Class::kUncontrolled;
  }
  return entry.role == Role::kObserve ? Class::kUncontrolled : Class::kFixed;
}

bool Chain::has_uncontrolled(const Trace& trace) {
  return std::any_of(trace.entries.begin(), trace.entries.end(),
                     [](const Entry& entry) { return class_of(entry) == Class::kUncontrolled; });
}

std::size_t Chain::count(const Trace& trace) {
  std::size_t sites = 0;
  for (const Entry& entry : trace.entries) sites += class_of(entry) == Class::kControlled;
  return sites + (has_uncontrolled(trace) ? 1 : 0);
}

void Chain::accept(Trace& trace) {
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
const Entry* Chain::find(const Address* address, Class wanted) {
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

void Chain::build_index() {
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
bool Chain::unchanged(const Pending& request, const Entry& old) {
  return request.distribution->log_prob(old.value) == old.log_prob;
}

}  // namespace psn
