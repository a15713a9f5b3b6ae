#include "psn/nn/run/recalled.h"

#include <algorithm>

namespace psn {

void Recalled::restart(std::size_t row) {
  rows_[row].sum.assign(width_, 0.0f);
  rows_[row].nodes.clear();
  rows_[row].parts.clear();
}

void Recalled::add(std::size_t at, NodeId node, const float* now) {
  Row& row = rows_[at];
  for (std::size_t j = 0; j < width_; ++j) row.sum[j] += now[j];
  const auto found = std::find(row.nodes.begin(), row.nodes.end(), node);
  const auto place = static_cast<std::size_t>(found - row.nodes.begin());
  if (found == row.nodes.end()) {
    row.nodes.push_back(node);
    row.parts.insert(row.parts.end(), now, now + width_);
    return;
  }
  float* before = &row.parts[place * width_];
  for (std::size_t j = 0; j < width_; ++j) row.sum[j] -= before[j];
  std::copy_n(now, width_, before);
}

}  // namespace psn
