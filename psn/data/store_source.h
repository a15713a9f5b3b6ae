// StoreSource: traces of a store as a source to learn from: shuffled, epoch after epoch, read ahead
// by a thread of its own.
//
// Deterministic: what comes out depends on the store, seed, share and `first` only. A store may
// grow meanwhile: each epoch takes what is there when it begins. Those held out (Split) are left
// out.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <limits>
#include <mutex>
#include <thread>
#include <vector>

#include "psn/core/trace_source.h"
#include "psn/data/store.h"

namespace psn::data {

// One pass over the store, as it was when that began.
struct Epoch {
  std::uint64_t number = 0;
  std::uint64_t begin = 0;   // its first place in the sequence of all epochs
  std::uint64_t traces = 0;  // in the store, with those held out; 0: not begun
};

struct StoreSourceOptions {
  std::uint64_t seed = 0;
  std::uint64_t count = std::numeric_limits<std::uint64_t>::max();  // places in all, as of a stream
  Share share;
  std::uint64_t first = 0;  // traces that this reader took before
  // Of a store that has grown since: the epoch that this reader is in.
  Epoch epoch{};
  // Several readers must agree on what is there: they fix it. 0: all that is there.
  std::uint64_t traces = 0;
  std::size_t ahead = 2048;  // traces that may wait
};

class StoreSource : public TraceSource {
 public:
  // The reader must outlive the source, and is used by nobody else meanwhile. Throws DataError if
  // the store has no trace to train on.
  StoreSource(StoreReader& reader, const StoreSourceOptions& options);
  ~StoreSource() override;
  StoreSource(const StoreSource&) = delete;
  StoreSource& operator=(const StoreSource&) = delete;

  void take(std::size_t count, std::vector<Trace>& traces) override;
  // The epoch of the trace after the first `taken` of this reader; numbers only grow from call to
  // call.
  Epoch epoch(std::uint64_t taken);

 private:
  Epoch first_epoch();
  Epoch next_epoch(const Epoch& last);
  void work();

  StoreReader& reader_;
  const StoreSourceOptions options_;
  const std::uint64_t end_;  // of this reader's traces

  std::mutex mutex_;
  std::condition_variable read_, taken_;
  std::deque<Trace> waiting_;
  std::deque<Epoch> epochs_;  // of those that wait, and the last
  bool stop_ = false, done_ = false;
  std::exception_ptr error_;
  std::thread thread_;
};

// At most so many of the traces held out, in order.
std::vector<Trace> held_out_traces(StoreReader& reader, std::uint64_t count);

}  // namespace psn::data
