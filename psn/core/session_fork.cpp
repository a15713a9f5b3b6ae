// Copies of traces under way.
#include <fmt/format.h>

#include "psn/base/error.h"
#include "psn/core/session.h"

namespace psn {
namespace {

bool takes_a_value(Role role) {
  return role == Role::kSample || role == Role::kObserve;
}

}  // namespace

void Guide::fork(Slot, Slot, const Ticket&) {
  throw InvalidArgument("this guide cannot go on with a copy of a trace");
}

void Session::fork(Slot from, Slot to, const Ticket& ticket) {
  Run &original = runs_[from], &copy = runs_[to];
  if (original.loop.open()) {
    throw InvalidArgument("a trace cannot be copied in the middle of a rejection loop");
  }
  if (from == to || !original.running) {
    throw InvalidArgument(
        fmt::format("slot {} has no trace under way that slot {} could go on "
                    "with",
                    from, to));
  }
  guide_.fork(from, to, ticket);
  if (copy.running) {
    ensemble_.abandon(to);
  } else {
    copy.running = true;
    ++running_;
  }
  replays_ -= copy.replays;
  copy.ticket = ticket;
  copy.loop.abandon();
  copy.trace = original.trace;
  copy.replayed = 0;
  const Rng rng(options_.seed, ticket.trace, ticket.chain);
  copy.replays = !ensemble_.fork(from, to, ticket, rng);
  if (!copy.replays) return;
  ++replays_;
  ensemble_.start(to, ticket, rng);
}

// Answers a request of a run that is made again by what its trace has there; false: the run has
// come as far as the one that it is a copy of.
bool Session::replay(const Pending& request) {
  Run& run = runs_[request.slot];
  if (!run.replays) return false;
  if (request.role == Role::kFail || run.replayed == run.trace.entries.size()) {
    run.replays = false;
    --replays_;
    return false;
  }
  if (request.role == Role::kRound) {  // the rounds that were kept are accepted at once
    ensemble_.answer(request.slot, {});
    return true;
  }
  const Entry& entry = run.trace.entries[run.replayed++];
  if (request.address != entry.address || request.role != entry.role) {
    throw ModelError(fmt::format(
        "trace {}: run again on the same values, the program came to '{}' instead of '{}': it "
        "depends on something else than its choices",
        run.ticket.trace, request.address ? request.address->text : "its end",
        entry.address->text));
  }
  ensemble_.answer(request.slot, takes_a_value(request.role) ? entry.value : Value());
  return true;
}

}  // namespace psn
