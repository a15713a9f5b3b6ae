#include "psn/core/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "psn/base/error.h"
#include "psn/core/missing.h"

namespace psn {
namespace {

constexpr const char* kNoDensity =
    "it is computed by the program, not drawn, so that there is no density to weigh a run by: ask "
    "an inference network for its own answer (`engine` network), or infer in a surrogate, which "
    "learns a density";

constexpr const char* kInsideOfALoop =
    "it was observed, and lies inside of a rejection loop that the guide follows: infer with "
    "`engine` is, lmh or rmh";

bool has_nan(const Value& value) {
  return std::any_of(value.begin(), value.end(), [](double x) { return std::isnan(x); });
}

double log_prob_of_all(const Distribution& distribution, const Value& value) {
  return distribution.log_prob(value);
}

}  // namespace

void Session::start(Slot slot, const Ticket& ticket) {
  Run& run = runs_[slot];
  run.trace.clear();
  run.ticket = ticket;
  run.loop.abandon();
  run.running = true;
  ++running_;
  guide_.begin(slot, ticket);
  ensemble_.start(slot, ticket, Rng(options_.seed, ticket.trace, ticket.chain));
}

std::span<const Pending> Session::without_replayed(std::span<const Pending> all) {
  requests_.clear();
  for (const Pending& request : all) {
    if (!replay(request)) requests_.push_back(request);
  }
  return requests_;
}

Session::Taken Session::take(const Pending& request) {
  switch (request.role) {
    case Role::kSample:
      check(request);
      if (options_.held && hold(request)) break;
      if (const auto given = measured(request)) {
        take_given(request, *given);
      } else if (request.control && !runs_[request.slot].loop.draws_from_model()) {
        return Taken::kChoice;
      } else {
        take_from_model(request);
      }
      break;
    case Role::kObserve:
      take_observation(request);
      break;
    case Role::kTag:
      if (request.value->empty() || has_nan(*request.value)) {
        fail(request, fmt::format("tag of {}", request.value->text()));
      }
      record(request, *request.value, 0);
      ensemble_.answer(request.slot, {});
      break;
    case Role::kFactor: {
      const double log_weight = request.value->scalar();
      if (!(log_weight < kInfinity)) fail(request, fmt::format("factor of {}", log_weight));
      weigh_evidence(request, log_weight);
      record(request, *request.value, log_weight);
      ensemble_.answer(request.slot, {});
      break;
    }
    case Role::kRound:
      take_round(request);
      break;
    case Role::kFinish:
      finish(request);
      return Taken::kFinished;
    case Role::kFail:
      end(runs_[request.slot]);
      return Taken::kFailed;
  }
  return Taken::kAnswered;
}

void Session::choose(std::span<const Pending> requests) {
  if (requests.empty()) return;
  choices_.resize(requests.size());
  guide_.choose(requests, choices_);
  for (std::size_t i = 0; i < requests.size(); ++i) choose(requests[i], choices_[i]);
}

// Weighs, records and hands over the value of a choice.
void Session::choose(const Pending& request, const Choice& choice) {
  const double log_p = density(request, choice.value);
  Trace& trace = runs_[request.slot].trace;
  if (choice.log_q && log_p == -kInfinity) {
    // The trace is ruled out. It runs to its end on a value that the model could have drawn: no
    // simulator is ever handed an impossible one.
    trace.log_weight = -kInfinity;
    return choose(request, {request.distribution->draw(*request.rng), std::nullopt});
  }
  if (log_p == -kInfinity) {  // also what a draw of infinity or NaN has
    fail(request, fmt::format("drew {}, which has no density under {}: its parameters are too "
                              "extreme",
                              choice.value.text(), request.distribution->text()));
  }
  if (choice.log_q && !std::isfinite(*choice.log_q)) {
    fail(request,
         fmt::format("{} was proposed with log density {}", choice.value.text(), *choice.log_q));
  }
  trace.log_joint += log_p;
  if (choice.log_q) trace.log_weight += log_p - *choice.log_q;
  runs_[request.slot].loop.chose(choice.log_q.has_value());
  record(request, choice.value, log_p);
  ensemble_.answer(request.slot, choice.value);
}

// Gives a latent the value that it is held at, if it is. Nothing is weighed: the law is that of
// the program in which the value was set, not of runs in which it came out.
bool Session::hold(const Pending& request) {
  const auto value = options_.held->find(*request.address, request.distribution->size());
  if (!value) return false;
  if (density(request, *value) == -kInfinity) {
    fail(request, fmt::format("it is held at {}, which {} cannot be", value->text(),
                              request.distribution->text()));
  }
  if (request.control) guide_.given(request, *value);
  record(request, *value, 0).given = true;
  ensemble_.answer(request.slot, *value);
  return true;
}

// An uncontrolled sample, or an observation that nobody gave.
void Session::take_from_model(const Pending& request) {
  if (const Value* old = guide_.replay(request)) {
    choose(request, {*old, 0.0});
  } else {
    choose(request, {request.distribution->draw(*request.rng), std::nullopt});
  }
}

void Session::take_observation(const Pending& request) {
  if (!request.distribution) return take_computed(request);
  check(request);
  const auto given = observations_.find(*request.address, request.distribution->size());
  if (given && gaps(*given) != Gaps::kAll) return take_given(request, *given);
  // What the user left open is drawn, even if the program has data of its own.
  if (!given && has_own_data(request)) return take_given(request, *request.value);
  take_from_model(request);
}

void Session::take_round(const Pending& request) {
  Run& run = runs_[request.slot];
  const auto mark = static_cast<RoundMark>(request.value->integer());
  if (mark == RoundMark::kLoop) {
    run.loop.begin(run.trace, *guide_.follows_loops());
    guide_.loop_begins(request.slot);
    return ensemble_.answer(request.slot, Value(1.0));
  }
  const RoundOrder order =
      run.loop.end_round(mark == RoundMark::kAccepted, run.trace, guide_, request.slot);
  ensemble_.answer(request.slot, Value(static_cast<double>(order)));
}

// Of what was measured in part, the rest is as computed.
void Session::take_computed(const Pending& request) {
  if (!request.value || request.value->empty()) {
    fail(request, "an observation with neither a value nor a distribution");
  }
  const Value& computed = *request.value;
  if (has_nan(computed)) fail(request, fmt::format("observed value {}", computed.text()));
  const auto given = measured(request);
  if (given && options_.weighs) fail(request, kNoDensity);
  if (given && given->size() != computed.size()) {
    fail(request, fmt::format("{} was observed, and {} computed", given->text(), computed.text()));
  }
  std::vector<double> taken(computed.begin(), computed.end());
  for (std::size_t i = 0; given && i < taken.size(); ++i) {
    if (!std::isnan((*given)[i])) taken[i] = (*given)[i];
  }
  const Value value = computed.is_scalar() ? Value(taken[0]) : Value(taken, computed.shape());
  record(request, value, 0).given = given.has_value();
  ensemble_.answer(request.slot, value);
}

// What the user observed here; nullopt: nothing, or nothing but gaps.
std::optional<Value> Session::measured(const Pending& request) {
  const std::size_t components =
      request.distribution ? request.distribution->size() : request.value->size();
  auto given = observations_.find(*request.address, components);
  if (given && gaps(*given) == Gaps::kAll) given.reset();
  return given;
}

// The program's, which in a forward simulation are drawn instead.
bool Session::has_own_data(const Pending& request) const {
  if (!options_.observations || !request.value || request.value->empty()) return false;
  if (has_nan(*request.value)) {
    fail(request, fmt::format("observed value {}", request.value->text()));
  }
  return true;
}

// Evidence: an observation, or a latent at which the user put one.
void Session::take_given(const Pending& request, const Value& given) {
  if (gaps(given) != Gaps::kNone) return take_with_gaps(request, given);
  const double log_p = density(request, given);
  weigh_evidence(request, log_p);
  hand_over(request, given, log_p);
}

// What was not measured is integrated out of the evidence, and drawn for the program.
void Session::take_with_gaps(const Pending& request, const Value& given) {
  const double log_p = density(request, given, log_prob_of_present);
  weigh_evidence(request, log_p);
  const Value filled = fill_gaps(*request.distribution, given, *request.rng);
  if (log_p > -kInfinity) {
    runs_[request.slot].trace.log_joint += density(request, filled) - log_p;
  }
  hand_over(request, filled, log_p);
}

void Session::hand_over(const Pending& request, const Value& given, double log_p) {
  if (request.role == Role::kSample) {
    // As in choose(): the trace is ruled out, and its simulator gets a possible value.
    if (log_p == -kInfinity) {
      return choose(request, {request.distribution->draw(*request.rng), std::nullopt});
    }
    if (request.control) guide_.given(request, given);
  }
  record(request, given, log_p).given = true;
  ensemble_.answer(request.slot, given);
}

void Session::weigh_evidence(const Pending& request, double log_p) {
  if (runs_[request.slot].loop.open()) fail(request, kInsideOfALoop);
  Trace& trace = runs_[request.slot].trace;
  trace.log_joint += log_p;
  trace.log_likelihood += log_p;
  trace.log_weight += log_p;
}

Entry& Session::record(const Pending& request, const Value& value, double log_p) {
  Trace& trace = runs_[request.slot].trace;
  auto& entries = trace.entries;
  if (entries.size() >= options_.max_length) {
    fail(request, fmt::format("the trace is longer than {} choices; raise the limit if the "
                              "program is meant to run that long",
                              options_.max_length));
  }
  if (request.log_transition) trace.transitions.push_back(*request.log_transition);
  Entry& entry = entries.emplace_back(request.address, request.role, request.control, false, log_p,
                                      value, nullptr);
  if (options_.keep_distributions && request.distribution) {
    entry.distribution = std::make_shared<const Distribution>(*request.distribution);
  }
  return entry;
}

void Session::finish(const Pending& request) {
  Run& run = runs_[request.slot];
  if (has_nan(*request.value)) {
    throw ModelError(
        fmt::format("trace {}: the program returned {}", run.ticket.trace, request.value->text()));
  }
  run.trace.result = *request.value;
  if (request.log_transition) run.trace.transitions.push_back(*request.log_transition);
  end(run);
}

void Session::end(Run& run) {
  run.running = false;
  --running_;
}

void Session::check(const Pending& request) const {
  if (!request.distribution->valid()) fail(request, *request.distribution->problem());
}

double Session::density(const Pending& request, const Value& value) const {
  return density(request, value, log_prob_of_all);
}

double Session::density(const Pending& request, const Value& value, Density* of) const {
  double log_p = kNaN;
  try {
    log_p = of(*request.distribution, value);
  } catch (const ModelError& error) {
    fail(request, error.what());
  }
  if (!(log_p < kInfinity)) {
    fail(request, fmt::format("{} has log density {} under {}", value.text(), log_p,
                              request.distribution->text()));
  }
  return log_p;
}

void Session::fail(const Pending& request, std::string_view what) const {
  throw ModelError(fmt::format("trace {}, address '{}': {}", runs_[request.slot].ticket.trace,
                               request.address->text, what));
}

}  // namespace psn
