#include "psn/nn/run/continuation.h"

#include <fmt/format.h>

#include <utility>

#include "psn/base/error.h"
#include "psn/base/numerics.h"

namespace psn {
namespace {

// May the simulator be handed this value?
bool possible(const Pending& pending, const Value& value) {
  if (!pending.distribution) return true;
  if (const auto problem = pending.distribution->problem()) {
    throw ModelError(fmt::format("address '{}': {}", pending.address->text, *problem));
  }
  return pending.distribution->log_prob(value) > -kInfinity;
}

}  // namespace

void Continuation::start(const Ticket& ticket, const Rng& rng) {
  if (!ensemble_) {
    ensemble_ = simulator_.ensemble(1);
    ensemble_->watch(heartbeat_);
  }
  answers_.clear();
  failed_.reset();
  ensemble_->start(0, ticket, rng);
}

void Continuation::begin(const Ticket& ticket, const Rng& rng, const Continuation& other) {
  start(ticket, rng);
  for (const Value& value : other.answers_) {
    const Pending pending = next();
    if (pending.role == Role::kFail) {
      failed_ = pending;
      return;
    }
    answer(value);
  }
}

bool Continuation::begin(const Ticket& ticket, const Rng& rng, std::span<const PastChoice> past) {
  start(ticket, rng);
  for (const PastChoice& choice : past) {
    const Pending pending = next_choice();
    if (pending.role == Role::kFail) {
      failed_ = pending;
      return true;
    }
    if (pending.address != choice.address || !possible(pending, choice.value)) {
      if (pending.address != choice.address && &choice == past.data()) {
        throw InvalidArgument(fmt::format(
            "the surrogate is not one of '{}': that begins with '{}', the surrogate with '{}'",
            simulator_.name(), pending.address ? pending.address->text : "end-execution",
            choice.address->text));
      }
      ensemble_.reset();  // leaves the program where it is
      return false;
    }
    answer(choice.value);
  }
  return true;
}

Pending Continuation::next() {
  if (failed_) return *std::exchange(failed_, std::nullopt);
  std::span<const Pending> requests;
  while (requests.empty()) requests = ensemble_->advance();
  return requests.front();
}

Pending Continuation::next_choice() {
  for (;;) {
    const Pending pending = next();
    if (pending.role == Role::kFactor) {
      throw ModelError(fmt::format("'{}' has a factor, '{}': no surrogate can stand in for it",
                                   simulator_.name(), pending.address->text));
    }
    if (pending.role != Role::kTag) return pending;
    answer({});
  }
}

}  // namespace psn
