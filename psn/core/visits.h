// Visits: how often each of some numbered things (addresses, nodes) came up in one run. Forgets all
// of it at no cost when the next run starts.
#pragma once

#include <cstdint>
#include <vector>

namespace psn {

class Visits {
 public:
  void restart() { ++run_; }
  // Which visit this is: 1, 2, ...
  std::uint32_t count(std::uint32_t id) {
    if (id >= counts_.size()) counts_.resize(id + 1);
    Count& c = counts_[id];
    if (c.run != run_) c = {run_, 0};
    return ++c.visits;
  }

 private:
  struct Count {
    std::uint64_t run = 0;
    std::uint32_t visits = 0;
  };
  std::uint64_t run_ = 1;
  std::vector<Count> counts_;
};

}  // namespace psn
