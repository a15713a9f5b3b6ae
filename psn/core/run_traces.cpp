// Many traces on many threads: run() on each, with a guide and an ensemble of its own.
#include <algorithm>
#include <exception>
#include <thread>
#include <vector>

#include "psn/core/run.h"

namespace psn {
namespace {

// Hands out trace indices to threads, in order.
class Range : public Task {
 public:
  Range(std::atomic<std::uint64_t>& next, std::uint64_t end, const TraceSink& sink,
        const RunOptions& options)
      : next_(next), end_(end), sink_(sink), options_(options) {}

  std::optional<Ticket> next(Slot) override {
    for (;;) {
      const std::uint64_t index = next_.fetch_add(1, std::memory_order_relaxed);
      if (index >= end_) return std::nullopt;
      if (!options_.skip || !options_.skip(index)) return Ticket{index};
    }
  }
  void finished(Slot, const Ticket& ticket, Trace& trace) override { sink_(ticket.trace, trace); }
  void failed(Slot slot, const Ticket& ticket) override {
    if (!options_.failed) return Task::failed(slot, ticket);
    options_.failed(ticket.trace);
  }

 private:
  std::atomic<std::uint64_t>& next_;
  std::uint64_t end_;
  const TraceSink& sink_;
  const RunOptions& options_;
};

}  // namespace

Parallelism effective(const Parallelism& wanted, const Simulator& simulator, std::uint64_t work) {
  const std::size_t limit =
      std::max<std::size_t>(1, std::min<std::uint64_t>(simulator.max_simulations(), work));
  Parallelism result = wanted;
  if (result.threads == 0) result.threads = std::max(1u, std::thread::hardware_concurrency());
  result.threads = std::min({result.threads, limit, simulator.max_threads()});
  const std::size_t share = (limit + result.threads - 1) / result.threads;
  result.threads = (limit + share - 1) / share;
  result.width = std::clamp<std::size_t>(result.width, 1, share);
  return result;
}

void run_traces(Simulator& simulator, std::uint64_t count, const GuideFactory& make_guide,
                const TraceSink& sink, const RunOptions& options, const Parallelism& parallelism) {
  const Parallelism used = effective(parallelism, simulator, count);
  std::atomic<std::uint64_t> next{options.first};
  on_threads(used.threads, [&](const std::atomic<bool>& cancelled) {
    const auto ensemble = simulator.ensemble(used.width);
    const auto guide = make_guide();
    Range range(next, options.first + count, sink, options);
    RunOptions thread_options = options;
    thread_options.cancelled = &cancelled;
    run(*ensemble, *guide, range, thread_options);
  });
}

void on_threads(std::size_t threads,
                const std::function<void(const std::atomic<bool>& cancelled)>& work) {
  std::atomic<bool> cancelled{false};
  if (threads == 1) return work(cancelled);
  std::vector<std::exception_ptr> errors(threads);
  {
    std::vector<std::jthread> pool;
    for (std::size_t t = 0; t < threads; ++t) {
      pool.emplace_back([&, t] {
        try {
          work(cancelled);
        } catch (...) {
          errors[t] = std::current_exception();
          cancelled.store(true);
        }
      });
    }
  }
  for (const auto& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

}  // namespace psn
