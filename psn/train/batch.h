// Batch: traces flattened to rows (trace, step), in the order in which a network reads them.
//
// Traces are sorted by length, longest first, so the traces that are still going at a step are
// always the first ones: row(step, position) = first[step] + position, and the step before it is
// row(step - 1, position). Nothing is padded and no batch is split by the form of its traces. A
// second order of the rows, by node, is what layers that belong to a node work on.
//
// For an inference network the rows are the latent choices under control; observations are listed
// apart.
//
// Tags are not random, and are rows only of a network that learns them (psn/nn/steps.h); a factor
// is not a random choice either and cannot be learned: InvalidArgument.
#pragma once

#include <cstdint>
#include <vector>

#include "psn/core/trace.h"
#include "psn/nn/network.h"

namespace psn {

struct Batch {
  struct NodeSegment {  // rows of one node, as places in `order`
    NodeId node;
    std::uint32_t begin, end;
  };
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  std::vector<std::uint32_t> trace;             // by position: which of the traces given
  std::vector<std::uint32_t> first_transition;  // by position: row of the logits at begin
  std::vector<double> log_p;                    // by position: the simulator's own density
  std::vector<std::uint32_t> first;             // by step: its first row; one more at the end
  std::vector<const Entry*> entry;              // by row
  std::vector<NodeId> node;                     // by row
  std::vector<std::uint32_t> transition;  // by row: that it takes, as a row of its node's logits
  std::vector<std::uint32_t> position;    // by row
  std::vector<std::uint32_t> next_row;    // by row; kNone for the last of a trace
  // By row: that of its trace's visit of the same node before; kNone if there was none. Only for a
  // network that recalls.
  std::vector<std::uint32_t> last_visit;
  std::vector<std::uint32_t> order;   // rows by node
  std::vector<NodeSegment> segments;  // of `order`, by node

  struct ObservedValue {  // for an inference network
    NodeId node;
    std::uint32_t position;
    const Entry* entry;
  };
  std::vector<ObservedValue> observed;      // by node
  std::vector<std::vector<Entry>> derived;  // entries that are no trace's own: tags
  // What the runtime counts (psn/nn/tally/tally.h): by row, after its choice; and before the first
  // one.
  std::vector<float> tally, first_tally;

  std::size_t traces() const { return trace.size(); }
  std::size_t rows() const { return node.size(); }
  std::size_t steps() const { return first.size() - 1; }
  std::size_t width(std::size_t step) const { return first[step + 1] - first[step]; }
};

}  // namespace psn
