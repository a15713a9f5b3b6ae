// TraceSource: where the traces come from that something is learned from, whether they are made at
// the moment or were stored before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "psn/core/trace.h"

namespace psn {

// Which places of a sequence one of several readers takes: of every `block` places (a global batch)
// each of `ranks` readers takes an equal, contiguous part.
struct Share {
  std::uint32_t rank = 0, ranks = 1;
  std::uint64_t block = 1;  // a multiple of ranks

  // The place of this reader's nth trace.
  std::uint64_t index(std::uint64_t n) const;
  // How many of the first `places` are this reader's; so the inverse of index().
  std::uint64_t count_of(std::uint64_t places) const;
  // Throws InvalidArgument for a share that cannot be.
  void check() const;
};

// Traces in a fixed order. One consumer thread.
class TraceSource {
 public:
  virtual ~TraceSource() = default;
  // The next traces: `count`, or fewer at the end. Waits for them; throws what making them threw.
  virtual void take(std::size_t count, std::vector<Trace>& traces) = 0;
};

}  // namespace psn
