#include "psn/ppx/served_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "psn/base/error.h"

namespace psn::ppx {
namespace {

constexpr Slot kSlot = 0;

// An address as PPX sends it: without type and instance, which the engine adds.
std::string bare_address(const Address& address) {
  const Variable& variable = *address.variable;
  return variable.text.substr(0, variable.text.size() - variable.site->type.size() - 2);
}

Value shaped(const Value& value, const Shape& shape) {
  if (value.shape() == shape) return value;
  return {{value.begin(), value.end()}, shape};
}

// A program may use what it is told as an index: a category that there is not must not reach it.
bool could_be_drawn(const Value& value, const Distribution& distribution) {
  if (value.size() != distribution.size()) return false;
  if (!std::all_of(value.begin(), value.end(), [](double x) { return std::isfinite(x); })) {
    return false;
  }
  return !distribution.discrete() ||
         std::isfinite(distribution.log_prob(shaped(value, distribution.shape())));
}

// An observation whose log density is the factor's: exactly if it is not positive.
Observe factor_as_observation(const Address& address, double log_weight) {
  Observe message{bare_address(address), address.name(), std::nullopt, {}};
  if (log_weight <= 0) {
    message.distribution = Exponential(1.0);
    message.value = -log_weight;
  } else {
    message.distribution = Exponential(std::exp(log_weight));
    message.value = 0.0;
  }
  return message;
}

}  // namespace

ServedRun::ServedRun(std::unique_ptr<Ensemble> ensemble, bool tells_data)
    : ensemble_(std::move(ensemble)), tells_data_(tells_data) {}

Message ServedRun::start(const Ticket& ticket, const Rng& rng) {
  ensemble_->start(kSlot, ticket, rng);
  return next_request();
}

Message ServedRun::answer(const Message& message) {
  ensemble_->answer(kSlot, std::visit([this](const auto& m) { return reply_value(m); }, message));
  return next_request();
}

Value ServedRun::reply_value(const SampleResult& message) const {
  expect(Role::kSample, message);
  const Distribution& distribution = *pending_->distribution;
  if (!could_be_drawn(message.result, distribution)) {
    throw ProtocolError(fmt::format("address '{}': the engine sent {} for {}",
                                    pending_->address->text, message.result.text(),
                                    distribution.text()));
  }
  return shaped(message.result, distribution.shape());
}

// Engines other than psn do not tell: then it is the program's own data, or nothing.
Value ServedRun::reply_value(const ObserveResult& message) const {
  if (pending_ && pending_->role == Role::kFactor) return {};
  expect(Role::kObserve, message);
  const Shape shape =
      pending_->distribution ? pending_->distribution->shape() : message.value.shape();
  if (!message.value.empty() && message.value.size() == element_count(shape)) {
    return shaped(message.value, shape);
  }
  return pending_->value ? *pending_->value : Value();
}

Value ServedRun::reply_value(const TagResult& message) const {
  expect(Role::kTag, message);
  return {};
}

template <class Other>
Value ServedRun::reply_value(const Other& message) const {
  throw ProtocolError(fmt::format("the engine sent {}", message_name(message)));
}

template <class M>
void ServedRun::expect(Role role, const M& message) const {
  if (pending_ && pending_->role == role) return;
  throw ProtocolError(fmt::format("the engine sent {} when asked for {}", message_name(message),
                                  pending_ ? role_name(pending_->role) : "nothing"));
}

Message ServedRun::next_request() {
  pending_.reset();
  std::span<const Pending> requests;
  while (requests.empty()) requests = ensemble_->advance();
  pending_ = requests.front();
  const Pending& request = *pending_;
  if (request.distribution && !request.distribution->valid()) {
    throw ModelError(
        fmt::format("address '{}': {}", request.address->text, *request.distribution->problem()));
  }
  switch (request.role) {
    case Role::kSample:
      return Sample{bare_address(*request.address), request.address->name(), *request.distribution,
                    request.control};
    case Role::kObserve:
      return Observe{
          bare_address(*request.address), request.address->name(),
          request.distribution ? std::optional(*request.distribution) : std::nullopt,
          request.value && (tells_data_ || !request.distribution) ? *request.value : Value()};
    case Role::kTag:
      return Tag{bare_address(*request.address), request.address->name(), *request.value};
    case Role::kFactor:
      return factor_as_observation(*request.address, request.value->scalar());
    case Role::kFinish:
      break;
    case Role::kRound:
    case Role::kFail:
      throw ModelError("the simulator did not finish the run");
  }
  Message result = RunResult{*request.value};
  pending_.reset();
  return result;
}

}  // namespace psn::ppx
