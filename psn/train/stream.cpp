#include "psn/train/stream.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "psn/base/error.h"

namespace psn {
namespace {

const StreamOptions& checked(const StreamOptions& options) {
  options.share.check();
  return options;
}

}  // namespace

class TraceStream::Producer : public Task {
 public:
  Producer(TraceStream& stream, Heartbeat* heartbeat) : stream_(stream), heartbeat_(heartbeat) {}

  // Waits only while finished traces wait to be used, so the consumer is never kept waiting for a
  // trace that this thread has yet to go on with.
  std::optional<Ticket> next(Slot) override {
    std::unique_lock lock(stream_.mutex_);
    const auto may_go_on = [&] {
      return stream_.complete_ < stream_.options_.ahead || stream_.monitor_.stop.load();
    };
    if (!may_go_on()) {
      set_running(false);  // whoever waits for the trainer does not hang
      stream_.taken_.wait(lock, may_go_on);
      set_running(true);
    }
    if (stream_.monitor_.stop.load()) return std::nullopt;
    if (again_) return std::exchange(again_, std::nullopt);
    if (stream_.next_ >= stream_.end_) return std::nullopt;
    return Ticket{stream_.options_.share.index(stream_.next_++), stream_.options_.chain};
  }

  void finished(Slot, const Ticket& ticket, Trace& trace) override {
    const std::lock_guard lock(stream_.mutex_);
    auto& waiting = stream_.waiting_;
    const std::uint64_t place = ticket.trace % kStreamsPerAttempt;
    const std::size_t at = stream_.options_.share.count_of(place) - stream_.first_;
    if (at >= waiting.size()) waiting.resize(at + 1);
    waiting[at].emplace(std::move(trace));
    const std::size_t before = stream_.complete_;
    while (stream_.complete_ < waiting.size() && waiting[stream_.complete_]) ++stream_.complete_;
    if (stream_.complete_ != before) stream_.finished_.notify_one();
  }

  // Another random stream takes the place of one that the simulator could not finish.
  void failed(Slot, const Ticket& ticket) override {
    again_ = {ticket.trace + kStreamsPerAttempt, ticket.chain};
  }

 private:
  static constexpr std::uint64_t kStreamsPerAttempt = std::uint64_t{1} << 48;

  void set_running(bool running) {
    if (heartbeat_) heartbeat_->running.store(running);
  }

  TraceStream& stream_;
  Heartbeat* heartbeat_;         // may be null
  std::optional<Ticket> again_;  // run() asks for the slot's next ticket at once
};

TraceStream::TraceStream(Simulator& simulator, const StreamOptions& options)
    : simulator_(simulator),
      options_(checked(options)),
      end_(options.share.count_of(options.count)),
      used_(effective(options.parallelism, simulator, end_ - std::min(end_, options.first))),
      next_(options.first),
      first_(options.first) {
  for (std::size_t t = 0; t < used_.threads; ++t) {
    threads_.emplace_back([this] {
      try {
        work();
      } catch (...) {
        const std::lock_guard lock(mutex_);
        if (!error_ && !monitor_.stop.load()) error_ = std::current_exception();
        monitor_.stop.store(true);
        finished_.notify_all();
        taken_.notify_all();
      }
    });
  }
}

TraceStream::~TraceStream() {
  {
    const std::lock_guard lock(mutex_);
    monitor_.stop.store(true);
  }
  taken_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void TraceStream::work() {
  const auto ensemble = simulator_.ensemble(used_.width);
  PriorGuide guide(options_.accepted_rounds);
  Heartbeat* heartbeat = options_.monitor ? options_.monitor->add_thread() : nullptr;
  Producer producer(*this, heartbeat);
  RunOptions run_options;
  run_options.heartbeat = heartbeat;
  run_options.seed = options_.seed;
  run_options.max_length = options_.max_length;
  run_options.keep_distributions = true;
  run_options.monitor = &monitor_;
  run(*ensemble, guide, producer, run_options);
}

void TraceStream::take(std::size_t count, std::vector<Trace>& traces) {
  traces.clear();
  std::unique_lock lock(mutex_);
  count = static_cast<std::size_t>(std::min<std::uint64_t>(count, end_ - std::min(end_, first_)));
  if (count > options_.ahead) {
    throw InvalidArgument("a batch is larger than the number of traces that may wait");
  }
  const auto ready = [&] { return complete_ >= count || error_; };
  constexpr std::chrono::milliseconds kLook(50);
  while (!finished_.wait_for(lock, kLook, ready)) {
    if (options_.monitor && options_.monitor->stop.load()) throw Interrupted();
  }
  if (complete_ < count) std::rethrow_exception(error_);
  for (std::size_t i = 0; i < count; ++i) {
    traces.push_back(std::move(*waiting_.front()));
    waiting_.pop_front();
  }
  first_ += count;
  complete_ -= count;
  lock.unlock();
  taken_.notify_all();
}

}  // namespace psn
