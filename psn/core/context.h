// Context: all that the author of a simulator sees.
//
//   psn::Value program(psn::Context& ctx) {
//     const double mu = ctx.sample(psn::Normal(1, std::sqrt(5.0)), {.name = "mu"});
//     ctx.observe(psn::Normal(mu, std::sqrt(2.0)), {.name = "obs0"});
//     return mu;
//   }
//
// Every call pauses the program until the engine answers. A Context belongs to one running
// simulation; it must not be used from another thread or after the program has returned.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include "psn/core/address_cache.h"
#include "psn/core/rounds.h"
#include "psn/core/trace.h"

namespace psn {

// What a simulation asks for when it pauses.
struct Request {
  Role role = Role::kSample;
  bool control = true;
  const Address* address = nullptr;  // null for kFinish and kRound
  // Null for a factor, and for a tag or a computed observation that no surrogate has learned.
  const Distribution* distribution = nullptr;
  // observe: the program's own data, if any, or what it has computed; tag; factor; result; the
  // RoundMark of a rejection loop
  const Value* value = nullptr;
};

// The other end of a Context: takes a request, returns the answer.
class Channel {
 public:
  virtual ~Channel() = default;
  virtual Value ask(const Request& request) = 0;
};

class Context {
 public:
  using Location = std::source_location;

  Context(Channel& channel, AddressCache& addresses) : channel_(channel), addresses_(addresses) {}
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  // Draws a latent random value.
  Value sample(const Distribution& distribution, const SiteOptions& options = {},
               Location location = Location::current());

  // States that a random quantity is measurable and returns its value: the user's observation of
  // that name, else `data`, else a draw. Simulating or training it is a draw. NaN: nobody tells.
  Value observe(const Distribution& distribution, const std::optional<Value>& data,
                const SiteOptions& options = {}, Location location = Location::current());
  Value observe(const Distribution& distribution, const SiteOptions& options = {},
                Location location = Location::current());

  // States that a quantity is measurable which the program computes, so that it has no density:
  // for inference networks, which need none, and surrogates, which learn one. Returns the user's
  // observation of that name, else the value itself.
  Value observe_value(const Value& computed, const SiteOptions& options = {},
                      Location location = Location::current());

  // Records a derived quantity.
  void tag(const Value& value, const SiteOptions& options = {},
           Location location = Location::current());

  // Multiplies the weight of the trace by exp(log_weight); -inf rules the trace out.
  void factor(double log_weight, const SiteOptions& options = {},
              Location location = Location::current());

  // A rejection loop: repeats `body` until `accept` holds for what it returned, and returns that.
  // Inference then need not explain the rejected rounds (rounds.h). More rounds may be run than the
  // loop needs, so body and accept must leave nothing behind but what `until` returns; inside there
  // are no observations and no factors.
  //
  //   const Value p = ctx.until([&] { return Value{ctx.sample(x, ...), ctx.sample(y, ...)}; },
  //                             [](const Value& p) { return p[0] * p[0] + p[1] * p[1] < 1; });
  Value until(const std::function<Value()>& body, const std::function<bool(const Value&)>& accept);

  // Prefixes the addresses of all choices made while the returned object lives.
  class [[nodiscard]] Scope {
   public:
    Scope(Context& context, std::string_view name, std::optional<std::int64_t> index);
    ~Scope() { context_.scope_.resize(length_); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Context& context_;
    std::size_t length_;
  };
  Scope scope(std::string_view name, std::optional<std::int64_t> index = {}) {
    return {*this, name, index};
  }

  // For the ensemble: forget the last run.
  void restart();

 private:
  const Address* next_address(const SiteOptions& options, const Location& location,
                              const Distribution* distribution, std::string_view type);

  Value ask_of_round(RoundMark mark);
  void expect_outside_of_loops(const SiteOptions& options) const;

  Channel& channel_;
  AddressCache& addresses_;
  std::string scope_;
  std::size_t loops_ = 0;  // under way
  struct Count {
    std::uint64_t run = 0;  // counts of earlier runs are stale, so that restart() costs nothing
    std::uint32_t visits = 0;
  };
  std::vector<Count> counts_;  // by variable id
  std::uint64_t run_ = 1;
};

// The same operations without a Context at hand, for code too deep to pass one: they reach the
// simulation that is running on this thread, and throw ModelError if there is none.
Value sample(const Distribution& distribution, const SiteOptions& options = {},
             Context::Location location = Context::Location::current());
Value observe(const Distribution& distribution, const std::optional<Value>& data,
              const SiteOptions& options = {},
              Context::Location location = Context::Location::current());
Value observe(const Distribution& distribution, const SiteOptions& options = {},
              Context::Location location = Context::Location::current());
Value observe_value(const Value& computed, const SiteOptions& options = {},
                    Context::Location location = Context::Location::current());
void tag(const Value& value, const SiteOptions& options = {},
         Context::Location location = Context::Location::current());
void factor(double log_weight, const SiteOptions& options = {},
            Context::Location location = Context::Location::current());

// For schedulers: the simulation that runs on this thread from now on; returns the previous one.
Context* set_ambient_context(Context* context);

}  // namespace psn
