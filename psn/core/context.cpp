#include "psn/core/context.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "psn/base/error.h"
#include "psn/base/numerics.h"

namespace psn {
namespace {

// The one exception to "no mutable globals": simulators call psn::sample() from anywhere.
// (initial-exec: a load instead of a call at every switch between simulations.)
// NOLINTNEXTLINE(*-avoid-non-const-global-variables)
[[gnu::tls_model("initial-exec")]] thread_local Context* ambient_context = nullptr;

Context& ambient() {
  if (!ambient_context) {
    throw ModelError("psn::sample, observe, tag and factor work only inside a running simulation");
  }
  return *ambient_context;
}

}  // namespace

Context* set_ambient_context(Context* context) {
  return std::exchange(ambient_context, context);
}

const Address* Context::next_address(const SiteOptions& options, const Location& location,
                                     const Distribution* distribution, std::string_view type) {
  const Variable* variable = addresses_.variable(scope_, options, location, distribution, type);
  if (variable->id >= counts_.size()) counts_.resize(variable->id + 1);
  Count& count = counts_[variable->id];
  if (count.run != run_) count = {run_, 0};
  return addresses_.address(variable, ++count.visits);
}

Value Context::sample(const Distribution& distribution, const SiteOptions& options,
                      Location location) {
  return channel_.ask({.role = Role::kSample,
                       .control = options.control,
                       .address = next_address(options, location, &distribution, ""),
                       .distribution = &distribution});
}

Value Context::observe(const Distribution& distribution, const std::optional<Value>& data,
                       const SiteOptions& options, Location location) {
  expect_outside_of_loops(options);
  Value seen = channel_.ask({.role = Role::kObserve,
                             .control = false,
                             .address = next_address(options, location, &distribution, ""),
                             .distribution = &distribution,
                             .value = data ? &*data : nullptr});
  if (!seen.empty()) return seen;
  return {std::vector<double>(distribution.size(), kNaN), distribution.shape()};
}

Value Context::observe(const Distribution& distribution, const SiteOptions& options,
                       Location location) {
  return observe(distribution, std::nullopt, options, location);
}

Value Context::observe_value(const Value& computed, const SiteOptions& options, Location location) {
  expect_outside_of_loops(options);
  Value seen = channel_.ask({.role = Role::kObserve,
                             .control = false,
                             .address = next_address(options, location, nullptr, kComputed),
                             .value = &computed});
  return seen.empty() ? computed : seen;
}

void Context::tag(const Value& value, const SiteOptions& options, Location location) {
  channel_.ask({.role = Role::kTag,
                .control = false,
                .address = next_address(options, location, nullptr, "Tag"),
                .value = &value});
}

void Context::factor(double log_weight, const SiteOptions& options, Location location) {
  expect_outside_of_loops(options);
  const Value value(log_weight);
  channel_.ask({.role = Role::kFactor,
                .control = false,
                .address = next_address(options, location, nullptr, "Factor"),
                .value = &value});
}

Value Context::ask_of_round(RoundMark mark) {
  const Value value(static_cast<double>(mark));
  return channel_.ask({.role = Role::kRound, .control = false, .value = &value});
}

void Context::expect_outside_of_loops(const SiteOptions& options) const {
  if (loops_ == 0) return;
  throw ModelError(
      fmt::format("'{}': no observation and no factor may be inside of a rejection loop (until)",
                  options.name.empty() ? options.address : options.name));
}

Value Context::until(const std::function<Value()>& body,
                     const std::function<bool(const Value&)>& accept) {
  struct Inside {
    explicit Inside(std::size_t& loops) : depth(loops) { ++depth; }
    ~Inside() { --depth; }
    std::size_t& depth;
  };
  // Of loops within loops the outermost is followed.
  const bool followed = loops_ == 0 && !ask_of_round(RoundMark::kLoop).empty();
  const Inside inside(loops_);
  const std::vector<Count> before = followed ? counts_ : std::vector<Count>();
  std::vector<Count> after;
  Value kept;
  for (;;) {
    Value result = body();
    const bool accepted = accept(result);
    if (!followed) {
      if (accepted) return result;
      continue;
    }
    const Value answer = ask_of_round(accepted ? RoundMark::kAccepted : RoundMark::kRejected);
    const auto order = static_cast<RoundOrder>(answer.integer());
    if (order == RoundOrder::kKeepAndLeave) return result;
    if (order == RoundOrder::kKeepAndAgain) {
      kept = std::move(result);
      after = counts_;
    }
    if (order == RoundOrder::kLeave) {
      counts_ = after;
      return kept;
    }
    counts_ = before;
  }
}

Context::Scope::Scope(Context& context, std::string_view name, std::optional<std::int64_t> index)
    : context_(context), length_(context.scope_.size()) {
  context.scope_ += indexed_name(name, index) + "/";
}

void Context::restart() {
  ++run_;
  scope_.clear();
  loops_ = 0;
}

Value sample(const Distribution& distribution, const SiteOptions& options,
             Context::Location location) {
  return ambient().sample(distribution, options, location);
}

Value observe(const Distribution& distribution, const std::optional<Value>& data,
              const SiteOptions& options, Context::Location location) {
  return ambient().observe(distribution, data, options, location);
}

Value observe(const Distribution& distribution, const SiteOptions& options,
              Context::Location location) {
  return ambient().observe(distribution, options, location);
}

Value observe_value(const Value& computed, const SiteOptions& options, Context::Location location) {
  return ambient().observe_value(computed, options, location);
}

void tag(const Value& value, const SiteOptions& options, Context::Location location) {
  ambient().tag(value, options, location);
}

void factor(double log_weight, const SiteOptions& options, Context::Location location) {
  ambient().factor(log_weight, options, location);
}

}  // namespace psn
