#include "psn/data/store_source.h"

#include <fmt/format.h>

#include <algorithm>

#include "psn/base/error.h"
#include "psn/data/shuffle.h"

namespace psn::data {

StoreSource::StoreSource(StoreReader& reader, const StoreSourceOptions& options)
    : reader_(reader), options_(options), end_(options.share.count_of(options.count)) {
  options_.share.check();
  if (options_.traces > reader_.size() || options_.epoch.traces > reader_.size()) {
    throw DataError(fmt::format("trace store '{}': has {} traces; {} were there before",
                                reader_.path(), reader_.size(),
                                std::max(options_.traces, options_.epoch.traces)));
  }
  if (Split::training_count(reader_.size()) == 0) {
    throw DataError(fmt::format("trace store '{}': has no traces", reader_.path()));
  }
  epochs_.push_back(first_epoch());
  thread_ = std::thread([this] {
    try {
      work();
    } catch (...) {
      const std::lock_guard lock(mutex_);
      error_ = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    done_ = true;
    read_.notify_all();
  });
}

StoreSource::~StoreSource() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  taken_.notify_all();
  thread_.join();
}

Epoch StoreSource::first_epoch() {
  if (options_.epoch.traces > 0) return options_.epoch;
  const std::uint64_t traces = options_.traces ? options_.traces : reader_.size();
  const std::uint64_t length = Split::training_count(traces);
  const std::uint64_t number = options_.share.index(options_.first) / length;
  return {number, number * length, traces};
}

Epoch StoreSource::next_epoch(const Epoch& last) {
  const std::uint64_t traces = options_.traces ? options_.traces : reader_.refresh();
  return {last.number + 1, last.begin + Split::training_count(last.traces), traces};
}

void StoreSource::work() {
  constexpr std::size_t kAtOnce = 64;  // so that locks cost nothing
  Epoch epoch = epochs_.front();
  EpochOrder order(Split::training_count(epoch.traces), options_.seed, epoch.number);
  std::vector<Trace> traces;
  std::vector<Epoch> begun;
  for (std::uint64_t n = options_.first; n < end_;) {
    traces.clear();
    begun.clear();
    for (; n < end_ && traces.size() < kAtOnce; ++n) {
      const std::uint64_t place = options_.share.index(n);
      while (place >= epoch.begin + Split::training_count(epoch.traces)) {
        epoch = next_epoch(epoch);
        order = EpochOrder(Split::training_count(epoch.traces), options_.seed, epoch.number);
        begun.push_back(epoch);
      }
      traces.push_back(reader_.read(Split::training(order(place - epoch.begin))));
    }
    std::unique_lock lock(mutex_);
    taken_.wait(lock, [&] { return stop_ || waiting_.size() < options_.ahead; });
    if (stop_) return;
    epochs_.insert(epochs_.end(), begun.begin(), begun.end());
    std::move(traces.begin(), traces.end(), std::back_inserter(waiting_));
    read_.notify_one();
  }
}

void StoreSource::take(std::size_t count, std::vector<Trace>& traces) {
  traces.clear();
  while (traces.size() < count) {
    std::unique_lock lock(mutex_);
    read_.wait(lock, [&] { return !waiting_.empty() || done_; });
    if (waiting_.empty()) {
      if (error_) std::rethrow_exception(error_);
      return;
    }
    const std::size_t some = std::min(count - traces.size(), waiting_.size());
    std::move(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(some),
              std::back_inserter(traces));
    waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(some));
    lock.unlock();
    taken_.notify_one();
  }
}

Epoch StoreSource::epoch(std::uint64_t taken) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t place = options_.share.index(taken);
  while (epochs_.size() > 1 && epochs_[1].begin <= place) epochs_.pop_front();
  return epochs_.front();
}

std::vector<Trace> held_out_traces(StoreReader& reader, std::uint64_t count) {
  count = std::min(count, Split::held_out_count(reader.size()));
  std::vector<Trace> traces;
  for (std::uint64_t n = 0; n < count; ++n) traces.push_back(reader.read(Split::held_out(n)));
  return traces;
}

}  // namespace psn::data
