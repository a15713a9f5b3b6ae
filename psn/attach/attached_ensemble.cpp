#include "psn/attach/attached_ensemble.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <source_location>
#include <utility>

#include "psn/attach/outputs.h"
#include "psn/base/error.h"

namespace psn::attach {
namespace {

constexpr int kTickMilliseconds = 10;  // how exactly time limits are kept

std::chrono::steady_clock::time_point after(double limit) {
  using Clock = std::chrono::steady_clock;
  if (limit <= 0) return Clock::time_point::max();
  return Clock::now() +
         std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(limit));
}

bool observes_exit(const Settings& settings) {
  return std::any_of(settings.outputs.begin(), settings.outputs.end(),
                     [](const Output& output) { return output.from == Output::From::kExit; });
}

}  // namespace

AttachedEnsemble::AttachedEnsemble(std::size_t width, std::unique_ptr<Runs> runs,
                                   const AttachOptions& options, AddressTable& addresses,
                                   FailureLog& failures,
                                   std::function<void(std::unique_ptr<Runs>)> give_back)
    : runs_(std::move(runs)),
      options_(options),
      addresses_(addresses),
      failures_(failures),
      give_back_(std::move(give_back)),
      slots_(width) {
  for (const SiteRule& rule : options.settings.sites) {
    for (const std::string& at : rule.at) rules_.emplace(at, &rule);
  }
  failures_.enter(width);
}

AttachedEnsemble::~AttachedEnsemble() {
  for (Slot slot = 0; slot < slots_.size(); ++slot) abandon(slot);
  failures_.leave(width());
  give_back_(std::move(runs_));
}

void AttachedEnsemble::start(Slot slot, const Ticket& ticket, const Rng& rng) {
  failures_.began();
  Simulated& simulated = slots_[slot];
  simulated.running = true;
  simulated.asks = false;
  simulated.ticket = ticket;
  simulated.rng = rng;
  simulated.tellings.clear();
  simulated.cause.clear();
  simulated.visits.clear();
  simulated.places.clear();
  simulated.last = nullptr;
  simulated.message_deadline = after(options_.message_limit);
  simulated.run_deadline = after(options_.run_limit);
  simulated.run = runs_->begin();
  slot_of_[simulated.run] = slot;
}

void AttachedEnsemble::answer(Slot slot, const Value& value) {
  Simulated& simulated = slots_[slot];
  simulated.asks = false;
  if (!simulated.cause.empty() || simulated.run == 0) return ready_.push_back(slot);
  simulated.message_deadline = after(options_.message_limit);
  runs_->answer(simulated.run, value.components());
}

void AttachedEnsemble::abandon(Slot slot) {
  Simulated& simulated = slots_[slot];
  std::erase(ready_, slot);
  std::erase(repeated_, slot);
  if (simulated.run != 0) {
    runs_->abandon(simulated.run);
    slot_of_.erase(std::exchange(simulated.run, 0));
  }
  simulated.running = false;
}

// A run that is not waiting for an answer is made again from its beginning.
bool AttachedEnsemble::fork(Slot from, Slot to, const Ticket& ticket, const Rng& rng) {
  Simulated& original = slots_[from];
  if (!original.asks || !original.cause.empty()) return false;
  std::uint64_t run = 0;
  if (original.run != 0) {
    const auto copied = runs_->copy(original.run);
    if (!copied) return false;
    run = *copied;
  }
  failures_.began();
  Simulated& copy = slots_[to];
  copy = original;
  copy.run = run;
  copy.ticket = ticket;
  copy.rng = rng;
  copy.run_deadline = after(options_.run_limit);
  if (copy.request.distribution) copy.request.distribution = &*copy.distribution;
  if (copy.request.value) copy.request.value = &copy.value;
  if (run != 0) slot_of_[run] = to;
  repeated_.push_back(to);
  return true;
}

std::span<const Pending> AttachedEnsemble::advance() {
  pending_.clear();
  for (const Slot slot : std::exchange(ready_, {})) tell_next(slot);
  for (const Slot slot : std::exchange(repeated_, {})) add(slot, slots_[slot].request);
  for (const Event& event : runs_->wait(pending_.empty() ? kTickMilliseconds : 0)) take(event);
  keep_time();
  if (heartbeat_) heartbeat_->steps.fetch_add(1, std::memory_order_release);
  return pending_;
}

void AttachedEnsemble::take(const Event& event) {
  const auto found = slot_of_.find(event.run);
  if (found == slot_of_.end()) return;
  const Slot slot = found->second;
  switch (event.what) {
    case Event::What::kDraw:
      try {
        take_draw(slot, event.packet);
      } catch (const Error& error) {
        runs_->abandon(event.run);
        fail(slot, "sent impossible values", error.what());
      }
      break;
    case Event::What::kEnded:
      slot_of_.erase(found);
      take_end(slot, event.exit_code);
      break;
    case Event::What::kFailed:
      fail(slot, event.cause, event.detail);
      break;
  }
}

const Address* AttachedEnsemble::address(Simulated& simulated, const SiteOptions& options,
                                         std::string_view type) {
  static const auto nowhere = std::source_location::current();
  const Distribution* distribution = simulated.distribution ? &*simulated.distribution : nullptr;
  const Variable* variable = addresses_.variable("", options, nowhere, distribution, type);
  simulated.last = addresses_.address(variable, ++simulated.visits[variable]);
  return simulated.last;
}

void AttachedEnsemble::take_draw(Slot slot, const Packet& packet) {
  Simulated& simulated = slots_[slot];
  simulated.distribution = drawn_from(packet);
  if (const auto problem = simulated.distribution->problem()) throw ModelError(*problem);
  const auto rule = rules_.find(packet.text);
  SiteOptions options{.address = packet.text};
  if (rule != rules_.end()) {
    options = {.name = rule->second->name};
    if (rule->second->list) options.index = simulated.places[rule->second]++;
  }
  add(slot, {.role = Role::kSample,
             .control = rule == rules_.end() || rule->second->control,
             .address = address(simulated, options, ""),
             .distribution = &*simulated.distribution});
}

void AttachedEnsemble::take_end(Slot slot, int exit_code) {
  Simulated& simulated = slots_[slot];
  const std::uint64_t run = std::exchange(simulated.run, 0);
  const Leavings leavings{runs_->printed(run), runs_->folder(run), exit_code};
  try {
    if (options_.ended) options_.ended(leavings);
    if (exit_code != 0 && !observes_exit(options_.settings)) {
      throw ModelError(fmt::format("exit code {}", exit_code));
    }
    for (const Output& output : options_.settings.outputs) {
      std::int64_t place = 0;
      for (const double number : numbers_of(output, leavings)) {
        if (std::isnan(number)) throw ModelError(fmt::format("{} is NaN", output.name));
        const auto index = output.list ? std::optional(place++) : std::nullopt;
        simulated.tellings.push_back({&output, number, index});
      }
    }
  } catch (const Error& error) {
    simulated.tellings.clear();
    runs_->release(run);
    return fail(slot, "gave no result", error.what());
  }
  runs_->release(run);
  tell_next(slot);
}

// The next output of a run that has ended, or its end.
void AttachedEnsemble::tell_next(Slot slot) {
  Simulated& simulated = slots_[slot];
  if (!simulated.cause.empty()) return fail(slot, simulated.cause, simulated.detail);
  if (simulated.tellings.empty()) {
    simulated.value = Value();
    failures_.succeeded();
    return add(slot, {.role = Role::kFinish, .value = &simulated.value});
  }
  const auto [output, number, index] = simulated.tellings.front();
  simulated.tellings.pop_front();
  const SiteOptions options{.name = output->name, .index = index};
  simulated.value = number;
  simulated.distribution.reset();
  if (!output->observed) {
    return add(slot, {.role = Role::kTag,
                      .control = false,
                      .address = address(simulated, options, "Tag"),
                      .value = &simulated.value});
  }
  if (output->law) {
    simulated.distribution = output->around(number);
    simulated.value = Value();
    if (const auto problem = simulated.distribution->problem()) {
      return fail(slot, "gave no result", fmt::format("{}: {}", output->name, *problem));
    }
  }
  add(slot, {.role = Role::kObserve,
             .control = false,
             .address = address(simulated, options, kComputed),
             .distribution = output->law ? &*simulated.distribution : nullptr,
             .value = &simulated.value});
}

void AttachedEnsemble::add(Slot slot, const Request& request) {
  Simulated& simulated = slots_[slot];
  simulated.asks = request.role != Role::kFinish && request.role != Role::kFail;
  simulated.running = simulated.asks;
  simulated.request = request;
  Pending pending;
  static_cast<Request&>(pending) = request;
  pending.slot = slot;
  pending.rng = &simulated.rng;
  pending_.push_back(pending);
}

// A run that waits for our answer has failed only once it has it.
void AttachedEnsemble::fail(Slot slot, const std::string& cause, const std::string& detail) {
  Simulated& simulated = slots_[slot];
  if (simulated.run != 0) slot_of_.erase(std::exchange(simulated.run, 0));
  if (simulated.asks) {
    simulated.cause = cause;
    simulated.detail = detail;
    return;
  }
  add(slot, {.role = Role::kFail});
  const std::uint64_t trace = simulated.ticket.trace;
  const Address* last = simulated.last;
  failures_.add(
      trace, cause,
      fmt::format("trace {}, {}: {}: {}", trace,
                  last ? fmt::format("after '{}'", last->text) : "before its first random choice",
                  cause, detail));
}

void AttachedEnsemble::keep_time() {
  const auto now = Clock::now();
  const bool looks = now >= next_look_;
  if (looks) next_look_ = now + std::chrono::milliseconds(10 * kTickMilliseconds);
  for (Slot slot = 0; slot < slots_.size(); ++slot) {
    const Simulated& simulated = slots_[slot];
    if (simulated.run == 0 || simulated.asks) continue;
    std::string cause, detail;
    if (now >= simulated.message_deadline) {
      cause = "hung";
      detail = fmt::format("no random choice for {} s", options_.message_limit);
    } else if (now >= simulated.run_deadline) {
      cause = "took too long";
      detail = fmt::format("not done after {} s", options_.run_limit);
    } else if (looks && runs_->prints_too_much(simulated.run)) {
      cause = "printed too much";
    } else {
      continue;
    }
    runs_->abandon(simulated.run);
    fail(slot, cause, detail);
  }
}

}  // namespace psn::attach
