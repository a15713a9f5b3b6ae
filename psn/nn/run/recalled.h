// Recalled: what rows of an executor recall, each the sum over the nodes that it has visited of
// what the last value of each comes to (Node::recall). Not thread-safe.
#pragma once

#include <span>
#include <vector>

#include "psn/nn/network.h"

namespace psn {

class Recalled {
 public:
  // Nothing is recalled, and sums are empty, if the network does not.
  explicit Recalled(const Network& network) : width_(network.recalls() ? network.context() : 0) {}

  std::size_t width() const { return width_; }
  void resize(std::size_t rows) { rows_.resize(rows, {std::vector<float>(width_), {}, {}}); }
  // As before the first value.
  void restart(std::size_t row);
  void copy(std::size_t from, std::size_t to) { rows_[to] = rows_[from]; }
  // A value was drawn that comes to `now`, in place of the one that the node had before.
  void add(std::size_t row, NodeId node, const float* now);
  const float* sum(std::size_t row) const { return rows_[row].sum.data(); }

 private:
  struct Row {
    std::vector<float> sum;
    std::vector<NodeId> nodes;  // visited
    std::vector<float> parts;   // of the sum, by place among them
  };

  std::size_t width_;
  std::vector<Row> rows_;
};

}  // namespace psn
