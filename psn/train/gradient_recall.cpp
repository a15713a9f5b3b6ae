// What a surrogate recalls of the values so far, forward and back (Node::recall): after each value
// the sum has what it comes to in the place of what the node's last one came to.
#include <algorithm>

#include "psn/nn/kernels.h"
#include "psn/train/gradient.h"

namespace psn {

using namespace kernels;

// By row: in recalled_ what its value comes to, in context_ the sum before it.
void Gradient::recall_values(const Batch& batch) {
  const std::size_t c = network_.context(), t = network_.config().transition_hidden_dim;
  reserve(recalled_, batch.rows() * c);
  reserve(context_, batch.rows() * c);
  std::vector<float>& out = d_scratch_[0];
  for (std::size_t s = 0; s < batch.segments.size(); ++s) {
    const auto& segment = batch.segments[s];
    const Node& node = network_.node(segment.node);
    const std::size_t rows = segment.end - segment.begin;
    reserve(out, rows * c);
    apply(node.recall, rows, last_input_.data() + last_offset_[s] + t, t + node.value.inputs(),
          out.data());
    for (std::size_t r = 0; r < rows; ++r) {
      std::copy_n(&out[r * c], c, &recalled_[batch.order[segment.begin + r] * c]);
    }
  }
  std::fill_n(context_.begin(), batch.traces() * c, 0.0f);
  for (std::size_t row = 0; row < batch.rows(); ++row) {
    const std::uint32_t next = batch.next_row[row];
    if (next == Batch::kNone) continue;
    float* after = &context_[next * c];
    sum_two(c, &context_[row * c], &recalled_[row * c], after);
    const std::uint32_t before = batch.last_visit[row];
    if (before != Batch::kNone) add_scaled(c, -1, &recalled_[before * c], after);
  }
}

// A value counts from the step after it to that of the node's next one.
void Gradient::back_through_recall(const Batch& batch) {
  const std::size_t c = network_.context(), t = network_.config().transition_hidden_dim;
  const std::size_t h = network_.hidden(), ld = head_width() + network_.embedding();
  std::vector<float>&d_sum = context_, &d_value = recalled_;  // of the sums before a row and later
  for (std::size_t place = 0; place < batch.rows(); ++place) {
    std::copy_n(&d_head_input_[place * ld + h], c, &d_sum[batch.order[place] * c]);
  }
  std::fill_n(d_value.begin(), batch.rows() * c, 0.0f);
  for (std::size_t row = batch.rows(); row-- > 0;) {
    const std::uint32_t next = batch.next_row[row], before = batch.last_visit[row];
    if (next == Batch::kNone) continue;
    add(c, &d_sum[next * c], &d_sum[row * c]);
    add(c, &d_sum[next * c], &d_value[row * c]);
    if (before != Batch::kNone) add_scaled(c, -1, &d_sum[next * c], &d_value[before * c]);
  }
  std::vector<float>& d = d_scratch_[0];
  for (std::size_t s = 0; s < batch.segments.size(); ++s) {
    const auto& segment = batch.segments[s];
    const Node& node = network_.node(segment.node);
    const std::size_t rows = segment.end - segment.begin;
    reserve(d, rows * c);
    for (std::size_t r = 0; r < rows; ++r) {
      std::copy_n(&d_value[batch.order[segment.begin + r] * c], c, &d[r * c]);
    }
    apply_back(node.recall, rows, last_input_.data() + last_offset_[s] + t, t + node.value.inputs(),
               d.data(), nullptr, 0, 0, 0);
  }
}

}  // namespace psn
