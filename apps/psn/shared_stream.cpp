#include "apps/psn/shared_stream.h"

#include <iterator>

#include "apps/psn/ranks.h"
#include "psn/base/bytes.h"

namespace psn::app {
namespace {

// A number of rank 0's, to all.
std::uint64_t told(std::uint64_t number) {
  ByteWriter out;
  out.put(number);
  std::string bytes = out.take();
  ranks().broadcast(bytes);
  return ByteReader(bytes).get<std::uint64_t>();
}

}  // namespace

SharedStream::SharedStream(Simulator& simulator, StreamOptions options)
    : own_(simulator, own_part(std::move(options))) {
  for (std::uint32_t rank = 0; rank < ranks().size(); ++rank) {
    messages_.emplace_back(simulator.addresses());
  }
}

// Rank by rank in turn, so that however many each makes, they follow each other without a gap.
StreamOptions SharedStream::own_part(StreamOptions options) {
  next_ = told(options.first);
  options.share = {ranks().rank(), ranks().size(), ranks().size()};
  options.first = options.share.count_of(next_);
  return options;
}

bool SharedStream::collect(std::uint64_t each) {
  std::vector<Trace> own;
  own_.take(each, own);
  const std::uint32_t rank = ranks().rank(), size = ranks().size();
  const std::vector<std::string> parts =
      ranks().gather(ranks().leads() ? "" : messages_[rank].write(own));
  if (!ranks().leads()) return true;
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
    const std::size_t size = ranks().size(), missing = count - ready_.size();
    if (!collect(told((missing + size - 1) / size))) break;
  }
  for (; traces.size() < count && !ready_.empty(); ready_.pop_front()) {
    traces.push_back(std::move(ready_.front()));
  }
}

void SharedStream::finish() {
  told(0);
}

void SharedStream::help() {
  while (const std::uint64_t each = told(0)) collect(each);
}

}  // namespace psn::app
