// TraceStream: traces of a simulator made on threads of their own while others are being used.
//
// The trace at place i is always drawn from random stream i and handed out in that order, so what
// comes out depends on seed, share and `first` only, not on timing, threads or width. The stream
// runs ahead by a bounded number of finished traces.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "psn/core/run.h"
#include "psn/core/trace_source.h"

namespace psn {

struct StreamOptions {
  std::uint64_t seed = 0;
  std::uint32_t chain = 0;   // tells apart uses of one seed: training, validation
  std::uint64_t count = 0;   // places in all, over all readers
  std::size_t ahead = 2048;  // finished traces that may wait
  std::size_t max_length = 1'000'000;
  Parallelism parallelism{64, 1};
  Share share;
  std::uint64_t first = 0;  // traces that this reader took before
  // Of rejection loops the accepted round alone (core/rounds.h).
  bool accepted_rounds = false;
  Monitor* monitor = nullptr;  // its `stop` ends take() with Interrupted
};

class TraceStream : public TraceSource {
 public:
  // The simulator must outlive the stream.
  TraceStream(Simulator& simulator, const StreamOptions& options);
  ~TraceStream() override;
  TraceStream(const TraceStream&) = delete;
  TraceStream& operator=(const TraceStream&) = delete;

  void take(std::size_t count, std::vector<Trace>& traces) override;

 private:
  class Producer;

  void work();

  Simulator& simulator_;
  const StreamOptions options_;
  const std::uint64_t end_;  // of this reader's traces
  Parallelism used_;
  Monitor monitor_;

  std::mutex mutex_;
  std::condition_variable finished_, taken_;
  std::uint64_t next_;                        // of this reader's traces: the next to start
  std::uint64_t first_;                       // the oldest in waiting_
  std::deque<std::optional<Trace>> waiting_;  // from first_ on, with gaps
  std::size_t complete_ = 0;                  // how many of them without a gap
  std::exception_ptr error_;
  std::vector<std::thread> threads_;
};

}  // namespace psn
