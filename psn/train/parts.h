// Parts of a batch: traces whose gradients are computed one part after the other and added up, so
// that long traces take no more memory than they may.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "psn/nn/network.h"
#include "psn/train/growth.h"

namespace psn {

struct BatchPart {
  std::size_t first, count;  // of the traces that the batch was made of
};

// Calls visit(batch, first) for one part of the traces after the other, `first` being its first
// trace, until it returns false. Returns how many parts there are.
std::size_t each_part(const Network& network, const Growth& growth, std::span<const Trace> traces,
                      std::size_t memory_mb, const std::function<bool(Batch&, std::size_t)>& visit);

// As few parts as each take at most so many bytes while they are computed, in the order of the
// traces; one trace is a part at least. A batch that fits, or is empty, is one part.
std::vector<BatchPart> parts_of(const Network& network, const Batch& batch, double bytes);

}  // namespace psn
