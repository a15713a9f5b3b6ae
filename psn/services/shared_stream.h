// SharedStream: the traces of a simulator, made by all ranks and handed out on rank 0: the same
// ones in the same order as one process would make.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "psn/core/trace_source.h"
#include "psn/data/trace_messages.h"
#include "psn/ranks/communicator.h"
#include "psn/train/stream.h"

namespace psn::services {

class SharedStream : public TraceSource {
 public:
  // Constructed by all ranks at the same time; where to begin (options.first) is rank 0's to say.
  SharedStream(Simulator& simulator, StreamOptions options, Communicator& ranks);

  // On rank 0.
  void take(std::size_t count, std::vector<Trace>& traces) override;
  void finish();  // no more will be taken
  // On all others: makes what rank 0 takes, until it has finished.
  void help();

 private:
  StreamOptions own_places(StreamOptions options);
  // A number of rank 0's, to all.
  std::uint64_t from_leader(std::uint64_t number);
  // Every rank makes its next `each` traces; says whether there were any left.
  bool collect(std::uint64_t each);

  Communicator& ranks_;
  std::uint64_t next_ = 0;  // the place of the next trace
  TraceStream own_;
  std::deque<data::TraceMessages> messages_;  // by rank: those that come from it, or go
  std::deque<Trace> ready_;
};

}  // namespace psn::services
