#include "psn/ppx/remote_ensemble.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <source_location>
#include <utility>

#include "psn/base/error.h"
#include "psn/ppx/socket.h"

namespace psn::ppx {
namespace {

constexpr auto kTick = std::chrono::milliseconds(10);  // how exactly time limits are kept

void require_numbers(const Value& value, std::string_view what) {
  if (value.empty() || std::any_of(value.begin(), value.end(), [](double x) { return x != x; })) {
    throw ModelError(fmt::format("{} {}", what, value.text()));
  }
}

void require_valid(const Distribution& distribution) {
  if (!distribution.valid()) throw ModelError(*distribution.problem());
}

// PPX has no index: a choice that it calls "x_3" by address and name is number 3 of "x" again, so
// that its addresses are those of the same program in process.
SiteOptions site_of(std::string_view address, std::string_view name) {
  const auto parts = split_index(name);
  if (!parts) return {.name = name, .address = address};
  const std::string_view suffix = name.substr(parts->name.size());
  if (!address.empty() && (!address.ends_with(suffix) || address == suffix)) {
    return {.name = name, .address = address};
  }
  if (!address.empty()) address.remove_suffix(suffix.size());
  return {.name = parts->name, .address = address, .index = parts->index};
}

Clock::time_point deadline(double limit) {
  return limit > 0 ? Clock::now() + seconds(limit) : Clock::time_point::max();
}

}  // namespace

RemoteEnsemble::RemoteEnsemble(std::size_t width, Links links, LinkContext& context,
                               AddressTable& addresses, FailureLog& failures,
                               std::function<void(Links)> give_back)
    : addresses_(addresses),
      failures_(failures),
      poller_(context.poller),
      options_(context.options),
      give_back_(std::move(give_back)),
      links_(std::move(links)),
      slot_of_(links_.size(), kNoSlot),
      width_(width),
      runs_(width) {
  runs_.reserve(width + links_.size());  // requests point into it
  failures_.enter(std::min(width, links_.size()));
}

RemoteEnsemble::~RemoteEnsemble() {
  std::vector<Link*> busy;
  for (std::size_t link = 0; link < links_.size(); ++link) {
    if (slot_of_[link] != kNoSlot) busy.push_back(links_[link].get());
  }
  for (Link* link : busy) link->terminate();  // all, before waiting for each
  for (Link* link : busy) link->abandon_run();
  failures_.leave(std::min(width(), links_.size()));
  give_back_(std::move(links_));
}

void RemoteEnsemble::start(Slot slot, const Ticket& ticket, const Rng& rng) {
  failures_.began();
  Run& run = runs_[slot];
  run.ticket = ticket;
  run.rng = rng;
  run.last = nullptr;
  run.visits.clear();
  waiting_.push_back(slot);
}

void RemoteEnsemble::answer(Slot slot, const Value& value) {
  Run& run = runs_[slot];
  if (std::holds_alternative<Sample>(run.request)) {
    send(slot, SampleResult{value});
  } else if (std::holds_alternative<Observe>(run.request)) {
    send(slot, ObserveResult{links_[run.link]->peer_is_psn() ? value : Value()});
  } else {
    send(slot, TagResult{});
  }
}

void RemoteEnsemble::abandon(Slot slot) {
  std::erase(waiting_, slot);
  const std::size_t link = runs_[slot].link;
  if (link == kNone) return;
  const auto free = std::find_if(runs_.begin() + static_cast<long>(width_), runs_.end(),
                                 [](const Run& run) { return run.link == kNone; });
  const auto place = static_cast<Slot>(free - runs_.begin());
  if (free == runs_.end()) runs_.emplace_back();
  slot_of_[link] = place;
  runs_[place] = std::move(runs_[slot]);
  runs_[slot].link = kNone;
  if (is_asking(link)) end_unheard(place);
}

// What a run that was given up asks for is answered at once.
void RemoteEnsemble::end_unheard(Slot slot) {
  Run& run = runs_[slot];
  if (const auto* sample = std::get_if<Sample>(&run.request)) {
    return send(slot, SampleResult{sample->distribution.draw(run.rng)});
  }
  const auto* observe = std::get_if<Observe>(&run.request);
  const bool draws = observe && observe->distribution && observe->value.empty();
  answer(slot, draws ? observe->distribution->draw(run.rng) : observe ? observe->value : Value());
}

std::span<const Pending> RemoteEnsemble::advance() {
  pending_.clear();
  const auto patience = Clock::now() + 2 * kTick;
  do {
    assign();
    wait();
    if (const auto now = Clock::now(); now >= next_tending_) {
      next_tending_ = now + kTick;
      tend();
    }
  } while (pending_.empty() && Clock::now() < patience);
  beat();
  return pending_;
}

const Link* RemoteEnsemble::first_up() const {
  const auto up = std::find_if(links_.begin(), links_.end(),
                               [](const auto& l) { return l->state() == Link::State::kUp; });
  return up == links_.end() ? nullptr : up->get();
}

bool RemoteEnsemble::any_reached() const {
  return std::any_of(links_.begin(), links_.end(), [](const auto& l) { return l->was_reached(); });
}

// Gives the runs that wait to the links that are free.
void RemoteEnsemble::assign() {
  for (std::size_t link = 0; link < links_.size() && !waiting_.empty(); ++link) {
    if (slot_of_[link] != kNoSlot || links_[link]->state() != Link::State::kUp) continue;
    const Slot slot = waiting_.front();
    waiting_.pop_front();
    slot_of_[link] = slot;
    runs_[slot].link = link;
    runs_[slot].run_deadline = deadline(options_.run_limit);
    send(slot, ppx::Run{});
  }
}

void RemoteEnsemble::send(Slot slot, const Message& message) {
  Run& run = runs_[slot];
  run.message_deadline = deadline(options_.message_limit);
  links_[run.link]->send(message);
}

void RemoteEnsemble::wait() {
  for (std::size_t link = 0; link < links_.size(); ++link) {
    if (links_[link]->must_look()) receive(link);
  }
  for (const std::uint64_t key : poller_.wait(pending_.empty() ? kTick : kTick.zero())) {
    const std::size_t link = key / kSignals;
    if (!links_[link]->is_open()) continue;  // closed a moment ago
    switch (static_cast<Signal>(key % kSignals)) {
      case Signal::kMessage:
        receive(link);
        break;
      case Signal::kOutput:
        links_[link]->drain();
        break;
      case Signal::kEnd:
      case Signal::kConnection:
        // What a simulator said before it died still counts; we are told of its death again.
        if (!is_asking(link) && links_[link]->is_dead()) {
          fail(link, "died", links_[link]->ending());
        }
        break;
    }
  }
}

void RemoteEnsemble::receive(std::size_t link) {
  std::optional<Message> message;
  try {
    message = links_[link]->receive();
  } catch (const ProtocolError& error) {
    return fail(link, "sent garbage", error.what());
  }
  if (!message) return;
  if (links_[link]->state() == Link::State::kGreeting) return greeted(link, *message);
  if (std::holds_alternative<Reset>(*message)) return was_reset(link);
  try {
    take(slot_of_[link], *std::move(message));
  } catch (const OutOfStep&) {
    const Message& request = runs_[slot_of_[link]].request;
    fail(link, "out of step", fmt::format("sent {}", message_name(request)));
  } catch (const Error& error) {
    fail(link, "sent impossible values", error.what());
  }
}

void RemoteEnsemble::greeted(std::size_t link, const Message& answer) {
  const Link& added = *links_[link];
  links_[link]->greeted(answer);
  if (added.state() != Link::State::kUp) return;
  for (const auto& other : links_) {
    if (other->state() != Link::State::kUp ||
        other->greeting().model_name == added.greeting().model_name) {
      continue;
    }
    throw InvalidArgument(fmt::format("'{}' serves the model '{}', but '{}' serves '{}'",
                                      added.peer(), added.greeting().model_name, other->peer(),
                                      other->greeting().model_name));
  }
}

void RemoteEnsemble::take(Slot slot, Message message) {
  Run& run = runs_[slot];
  run.request = std::move(message);
  std::visit([&](const auto& request) { take(slot, request); }, run.request);
}

template <class M>
const Address* RemoteEnsemble::address(Slot slot, const M& request,
                                       const Distribution* distribution, std::string_view type) {
  static const auto nowhere = std::source_location::current();
  const Variable* variable =
      addresses_.variable("", site_of(request.address, request.name), nowhere, distribution, type);
  Run& run = runs_[slot];
  run.last = addresses_.address(variable, ++run.visits[variable->text]);
  return run.last;
}

void RemoteEnsemble::take(Slot slot, const Sample& request) {
  require_valid(request.distribution);
  add(slot, {.role = Role::kSample,
             .control = request.control,
             .address = address(slot, request, &request.distribution, ""),
             .distribution = &request.distribution});
}

void RemoteEnsemble::take(Slot slot, const Observe& request) {
  const Distribution* distribution = request.distribution ? &*request.distribution : nullptr;
  if (distribution) require_valid(*distribution);
  if (!distribution || !request.value.empty()) require_numbers(request.value, "observed value");
  if (distribution && !request.value.empty() && request.value.size() != distribution->size()) {
    throw ModelError(fmt::format("observed value {} of {} under {}", request.value.text(),
                                 request.value.size(), distribution->text()));
  }
  add(slot, {.role = Role::kObserve,
             .control = false,
             .address = address(slot, request, distribution, kComputed),
             .distribution = distribution,
             .value = &request.value});
}

void RemoteEnsemble::take(Slot slot, const Tag& request) {
  require_numbers(request.value, "tag of");
  add(slot, {.role = Role::kTag,
             .control = false,
             .address = address(slot, request, nullptr, "Tag"),
             .value = &request.value});
}

void RemoteEnsemble::take(Slot slot, const RunResult& request) {
  if (!request.result.empty()) require_numbers(request.result, "the program returned");
  const std::size_t link = std::exchange(runs_[slot].link, kNone);
  links_[link]->run_finished();
  failures_.succeeded();
  slot_of_[link] = kNoSlot;
  add(slot, {.role = Role::kFinish, .value = &request.result});
}

template <class Other>
void RemoteEnsemble::take(Slot, const Other&) {
  throw OutOfStep();
}

void RemoteEnsemble::add(Slot slot, const Request& request) {
  if (is_given_up(slot)) {
    if (request.role != Role::kFinish && request.role != Role::kFail) end_unheard(slot);
    return;
  }
  Pending pending;
  static_cast<Request&>(pending) = request;
  pending.slot = slot;
  pending.rng = &runs_[slot].rng;
  pending_.push_back(pending);
}

void RemoteEnsemble::fail(std::size_t link, const std::string& cause, const std::string& detail) {
  const Slot slot = std::exchange(slot_of_[link], kNoSlot);
  if (slot == kNoSlot) return links_[link]->fail_start(detail);  // between runs nothing is lost
  links_[link]->fail_run();
  abandon(slot, cause, detail + links_[link]->last_words());
}

// The program threw, and its server is ready for the next run.
void RemoteEnsemble::was_reset(std::size_t link) {
  const Slot slot = std::exchange(slot_of_[link], kNoSlot);
  links_[link]->drain();
  abandon(slot, "gave up", "sent Reset" + links_[link]->last_words());
}

// The run has no link any more.
void RemoteEnsemble::abandon(Slot slot, const std::string& cause, const std::string& detail) {
  Run& run = runs_[slot];
  run.link = kNone;
  add(slot, {.role = Role::kFail});
  failures_.add(
      run.ticket.trace, cause,
      fmt::format("trace {}, {}: {}: {}", run.ticket.trace,
                  run.last ? fmt::format("after '{}'", run.last->text) : "before its first request",
                  cause, detail));
}

// Time limits, and links that are down.
void RemoteEnsemble::tend() {
  const auto now = Clock::now();
  for (std::size_t link = 0; link < links_.size(); ++link) {
    const Slot slot = slot_of_[link];
    if (slot != kNoSlot && !is_asking(link)) {
      if (now >= runs_[slot].message_deadline) {
        fail(link, "hung", fmt::format("no message for {} s", options_.message_limit));
      } else if (now >= runs_[slot].run_deadline) {
        fail(link, "took too long", fmt::format("not done after {} s", options_.run_limit));
      }
    }
    links_[link]->tend(now);
  }
  if (std::all_of(links_.begin(), links_.end(),
                  [](const auto& l) { return l->state() == Link::State::kLost; })) {
    throw ModelError(fmt::format("no simulator is left; {}", links_.front()->problem()));
  }
}

// Waiting for others is no reason to call this thread hung: we keep time limits ourselves.
void RemoteEnsemble::beat() {
  if (!heartbeat_) return;
  heartbeat_->steps.fetch_add(1, std::memory_order_release);
}

}  // namespace psn::ppx
