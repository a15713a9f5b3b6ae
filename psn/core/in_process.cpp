#include "psn/core/in_process.h"

#include <fmt/format.h>

#include <exception>
#include <vector>

#include "psn/base/error.h"
#include "psn/base/text.h"
#include "psn/core/activity.h"
#include "psn/core/fiber.h"

namespace psn {
namespace {

// One simulation: a fiber that runs the program again and again, pausing at each request.
class Simulation : public Channel {
 public:
  Simulation(const Model& model, AddressCache& addresses, Slot slot)
      : activity_{.model = model.name.c_str(), .stack_size = model.stack_size},
        context_(*this, addresses),
        fiber_([this, &model] { loop(model); }, model.stack_size) {
    pending_.slot = slot;
    pending_.rng = &rng_;
  }

  void start(const Ticket& ticket, const Rng& rng) {
    ticket_ = ticket;
    activity_.trace = ticket.trace;
    rng_ = rng;
    context_.restart();
  }

  void answer(const Value& value) { answer_ = value; }

  // Goes on to the next request.
  const Pending& advance() {
    Context* outer = set_ambient_context(&context_);
    const Activity* before = set_activity(&activity_);
    fiber_.resume();
    set_activity(before);
    set_ambient_context(outer);
    return pending_;
  }

  const Ticket& ticket() const { return ticket_; }
  const Address* last_address() const { return activity_.last; }
  std::exception_ptr take_failure() { return std::exchange(failure_, nullptr); }

  void tell_of_loops() { tells_of_loops_ = true; }

  Value ask(const Request& request) override {
    if (request.role == Role::kRound && !tells_of_loops_) return {};
    static_cast<Request&>(pending_) = request;
    if (request.address) activity_.last = request.address;
    fiber_.suspend();
    return std::move(answer_);
  }

 private:
  void loop(const Model& model) {
    for (;;) {
      activity_.last = nullptr;
      Value result;
      try {
        result = model.program(context_);
      } catch (const Fiber::Unwind&) {
        throw;
      } catch (...) {
        failure_ = std::current_exception();
      }
      static_cast<Request&>(pending_) = {.role = failure_ ? Role::kFail : Role::kFinish,
                                         .value = &result};
      fiber_.suspend();
    }
  }

  Ticket ticket_;
  Rng rng_;
  Pending pending_;
  Value answer_;
  bool tells_of_loops_ = false;
  Activity activity_;
  std::exception_ptr failure_;
  Context context_;
  Fiber fiber_;  // last, so that it is unwound while the rest still lives
};

class FiberEnsemble : public Ensemble {
 public:
  FiberEnsemble(const Model& model, AddressTable& table, FailureLog& failures, std::size_t width)
      : model_(model), addresses_(table), failures_(failures) {
    simulations_.reserve(width);
    for (Slot slot = 0; slot < width; ++slot) {
      simulations_.push_back(std::make_unique<Simulation>(model, addresses_, slot));
    }
    failures_.enter(width);
  }
  ~FiberEnsemble() override { failures_.leave(width()); }

  std::size_t width() const override { return simulations_.size(); }
  void watch(Heartbeat* heartbeat) override { heartbeat_ = heartbeat; }
  void tell_of_loops() override {
    for (const auto& simulation : simulations_) simulation->tell_of_loops();
    tells_of_loops_ = true;
  }

  void start(Slot slot, const Ticket& ticket, const Rng& rng) override {
    failures_.began();
    simulations_[slot]->start(ticket, rng);
    ready_.push_back(slot);
  }

  void answer(Slot slot, const Value& value) override {
    simulations_[slot]->answer(value);
    ready_.push_back(slot);
  }

  void abandon(Slot slot) override {
    std::erase(ready_, slot);
    simulations_[slot] = std::make_unique<Simulation>(model_, addresses_, slot);
    if (tells_of_loops_) simulations_[slot]->tell_of_loops();
  }

  std::span<const Pending> advance() override {
    pending_.clear();
    for (const Slot slot : ready_) {
      Simulation& simulation = *simulations_[slot];
      if (heartbeat_) beat(simulation);
      pending_.push_back(simulation.advance());
      if (pending_.back().role == Role::kFinish) failures_.succeeded();
      if (pending_.back().role == Role::kFail) fail(simulation);
    }
    ready_.clear();
    return pending_;
  }

 private:
  void beat(const Simulation& simulation) {
    heartbeat_->trace.store(simulation.ticket().trace, std::memory_order_relaxed);
    heartbeat_->last.store(simulation.last_address(), std::memory_order_relaxed);
    const auto steps = heartbeat_->steps.load(std::memory_order_relaxed);
    heartbeat_->steps.store(steps + 1, std::memory_order_release);
  }

  void fail(Simulation& simulation) {
    constexpr std::size_t kMostShown = 1000;  // of what an exception says
    const Address* last = simulation.last_address();
    const std::uint64_t trace = simulation.ticket().trace;
    const std::string where =
        fmt::format("model '{}', trace {}, {}", model_.name, trace,
                    last ? fmt::format("after '{}'", last->text) : "before its first choice");
    try {
      std::rethrow_exception(simulation.take_failure());
    } catch (const Error& error) {
      throw ModelError(fmt::format("{}: {}", where, error.what()));
    } catch (const std::exception& error) {
      failures_.add(trace, "threw",
                    fmt::format("{}: {}", where, one_line(error.what(), kMostShown)));
    } catch (...) {
      failures_.add(trace, "threw", where + ": an exception that is no std::exception");
    }
  }

  const Model& model_;
  AddressCache addresses_;
  FailureLog& failures_;
  std::vector<std::unique_ptr<Simulation>> simulations_;
  std::vector<Slot> ready_;
  std::vector<Pending> pending_;
  Heartbeat* heartbeat_ = nullptr;
  bool tells_of_loops_ = false;
};

}  // namespace

std::unique_ptr<Ensemble> InProcess::ensemble(std::size_t width) {
  return std::make_unique<FiberEnsemble>(model_, addresses_, failures_, width);
}

}  // namespace psn
