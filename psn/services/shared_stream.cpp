#include "psn/services/shared_stream.h"

#include <iterator>

#include "psn/ranks/message.h"

namespace psn::services {

SharedStream::SharedStream(Simulator& simulator, StreamOptions options, Communicator& ranks)
    : ranks_(ranks), own_(simulator, own_places(options)) {
  for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
    messages_.emplace_back(simulator.addresses());
  }
}

std::uint64_t SharedStream::from_leader(std::uint64_t number) {
  MessageWriter out;
  out.put(number);
  std::string bytes = out.take();
  ranks_.broadcast(bytes);
  return MessageReader(bytes).get<std::uint64_t>();
}

// Rank by rank in turn, so that however many each makes, they follow each other without a gap.
StreamOptions SharedStream::own_places(StreamOptions options) {
  next_ = from_leader(options.first);
  options.share = {ranks_.rank(), ranks_.size(), ranks_.size()};
  options.first = options.share.count_of(next_);
  return options;
}

bool SharedStream::collect(std::uint64_t each) {
  std::vector<Trace> own;
  own_.take(each, own);
  const std::uint32_t rank = ranks_.rank(), size = ranks_.size();
  const std::vector<std::string> parts =
      ranks_.gather(ranks_.leads() ? "" : messages_[rank].write(own));
  if (!ranks_.leads()) return true;
  std::vector<std::deque<Trace>> by_rank(size);
  by_rank[0].assign(std::make_move_iterator(own.begin()), std::make_move_iterator(own.end()));
  for (std::uint32_t from = 1; from < size; ++from) {
    for (Trace& trace : messages_[from].read(parts[from])) {
      by_rank[from].push_back(std::move(trace));
    }
  }
  const std::uint64_t first = next_;
  for (; !by_rank[next_ % size].empty(); ++next_) {
    ready_.push_back(std::move(by_rank[next_ % size].front()));
    by_rank[next_ % size].pop_front();
  }
  return next_ > first;
}

void SharedStream::take(std::size_t count, std::vector<Trace>& traces) {
  traces.clear();
  while (ready_.size() < count) {
    const std::size_t size = ranks_.size(), missing = count - ready_.size();
    if (!collect(from_leader((missing + size - 1) / size))) break;
  }
  for (; traces.size() < count && !ready_.empty(); ready_.pop_front()) {
    traces.push_back(std::move(ready_.front()));
  }
}

void SharedStream::finish() {
  from_leader(0);
}

void SharedStream::help() {
  while (const std::uint64_t each = from_leader(0)) collect(each);
}

}  // namespace psn::services
