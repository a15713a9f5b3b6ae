// Adam over the arena of parameters (Kingma and Ba 2015), block by block.
//
// A row's bias correction counts from its birth, so rows that appear while training goes on start
// as if they were new and never disturb the others. With `touched_only`, blocks without a gradient
// in this batch are left alone, moments and all, and the steps they missed do not count; dense Adam
// instead lets their moments decay and move them a little further.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "psn/nn/parameters.h"

namespace psn {

struct AdamOptions {
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  double clip_norm = 0;  // largest norm of the whole gradient; 0: no limit
  bool touched_only = false;
};

class Adam {
 public:
  explicit Adam(AdamOptions options) : options_(options) {}

  // Updates of a block are this much faster than those of others.
  void set_rate_factor(BlockId block, double factor);

  // One step at `rate`. `touched`: blocks that have a gradient. Returns the gradient's norm before
  // clipping; if that is not finite, nothing is changed.
  double update(Parameters& parameters, double rate, const std::vector<BlockId>& touched);

  // For training that goes on later: by block, the step of its last update.
  const std::vector<std::uint64_t>& last_updates() const { return last_; }
  void restore(std::vector<std::uint64_t> last_updates) { last_ = std::move(last_updates); }

 private:
  void update_block(Parameters& parameters, BlockId block, double rate, float clip);
  // Shifts births so that (step - birth) counts the updates that a row has really had.
  void skip_missed_steps(Parameters& parameters, BlockId block);

  AdamOptions options_;
  std::vector<std::uint64_t> last_;   // by block: the step of its last update
  std::vector<double> rate_factors_;  // by block; 1 for those that it does not reach
};

}  // namespace psn
