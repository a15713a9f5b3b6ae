#include "psn/core/run.h"

#include <fmt/format.h>

#include <vector>

#include "psn/base/error.h"
#include "psn/core/session.h"

namespace psn {
namespace {

// Says that this thread is at work, also while a guide draws; until the end, however it comes.
class AtWork {
 public:
  explicit AtWork(const RunOptions& options)
      : heartbeat_(options.heartbeat || !options.monitor ? options.heartbeat
                                                         : options.monitor->add_thread()) {
    if (heartbeat_) heartbeat_->running.store(true);
  }
  ~AtWork() {
    if (heartbeat_) heartbeat_->running.store(false);
  }
  AtWork(const AtWork&) = delete;
  AtWork& operator=(const AtWork&) = delete;

  Heartbeat* heartbeat() const { return heartbeat_; }

 private:
  Heartbeat* heartbeat_;
};

bool must_end(const RunOptions& options) {
  if (options.cancelled && options.cancelled->load(std::memory_order_relaxed)) return true;
  if (options.monitor && options.monitor->stop.load(std::memory_order_relaxed)) throw Interrupted();
  return false;
}

}  // namespace

void Task::failed(Slot, const Ticket& ticket) {
  throw ModelError(fmt::format("trace {}: the simulator did not finish it", ticket.trace));
}

Heartbeat* Monitor::add_thread() {
  const std::lock_guard lock(mutex_);
  return &heartbeats_.emplace_back();
}

void run(Ensemble& ensemble, Guide& guide, Task& task, const RunOptions& options) {
  const AtWork at_work(options);
  ensemble.watch(at_work.heartbeat());
  Session session(ensemble, guide, options);
  const auto start_next = [&](Slot slot) {
    if (const auto ticket = task.next(slot)) session.start(slot, *ticket);
  };
  for (Slot slot = 0; slot < session.width(); ++slot) start_next(slot);
  std::vector<Pending> choices;  // one batched decision for all that wait for one
  while (session.running() > 0 && !must_end(options)) {
    choices.clear();
    for (const Pending& request : session.advance()) {
      const Slot slot = request.slot;
      switch (session.take(request)) {
        case Session::Taken::kAnswered:
          break;
        case Session::Taken::kChoice:
          choices.push_back(request);
          break;
        case Session::Taken::kFinished:
          task.finished(slot, session.ticket(slot), session.trace(slot));
          if (options.monitor) options.monitor->traces.fetch_add(1, std::memory_order_relaxed);
          start_next(slot);
          break;
        case Session::Taken::kFailed:
          task.failed(slot, session.ticket(slot));
          start_next(slot);
          break;
      }
    }
    session.choose(choices);
  }
}

}  // namespace psn
