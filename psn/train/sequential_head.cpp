// Vectors that are proposed component by component (Node::follow): the last hidden layer starts as
// for any head, and after each component learns of its value before the next one's outputs are
// computed:
//
//   hidden_i = relu(layers(h, context) + sum over j < i of follow_j z_j)
//   outputs_i = their rows of the last layer, of hidden_i
//
// where z_j is component j in units of the model.
#include <algorithm>

#include "psn/nn/kernels.h"
#include "psn/nn/math.h"
#include "psn/train/gradient.h"

namespace psn {

using namespace kernels;

void Gradient::sequential_head(const Batch& batch, const Batch::NodeSegment& segment) {
  const Node& node = network_.node(segment.node);
  const std::size_t rows = segment.end - segment.begin, depth = node.value_layers.size();
  const std::size_t ld = head_width() + network_.embedding(), n = node.proposal.size;
  const auto width = [&](std::size_t i) {
    return std::size_t{network_.parameters().block(node.value_layers[i]).rows};
  };
  if (scratch_.size() < depth) scratch_.resize(depth);
  const float* input = &head_input_[segment.begin * ld];
  for (std::size_t i = 0; i + 1 < depth; ++i) {
    reserve(scratch_[i], rows * width(i));
    apply(node.value_layers[i], rows, i ? scratch_[i - 1].data() : input, i ? width(i - 1) : ld,
          scratch_[i].data());
    if (i + 2 < depth) relu(rows * width(i), scratch_[i].data());
  }
  if (hidden_.size() < n) {
    hidden_.resize(n);
    outputs_.resize(n);
    followed_.resize(n);
  }
  for (std::size_t i = 0; i < n; ++i) run_component(batch, segment, i);
  if (!backward_) return;
  back_through_components(segment);
  back_through_layers(node, segment, depth - 1);
}

// Leaves the gradient of the loss in outputs_, and what follows in the sums of the hidden layer.
void Gradient::run_component(const Batch& batch, const Batch::NodeSegment& segment, std::size_t i) {
  const Node& node = network_.node(segment.node);
  const std::size_t rows = segment.end - segment.begin;
  const std::size_t h = network_.parameters().block(node.follow).columns;
  const ProposalType type = node.proposal.of_component();
  const std::size_t count = type.outputs();
  std::vector<float>& sums = scratch_[node.value_layers.size() - 2];
  std::vector<float>&hidden = hidden_[i], &outputs = outputs_[i];
  reserve(hidden, rows * h);
  reserve(outputs, rows * count);
  reserve(followed_[i], rows);
  std::copy_n(sums.data(), rows * h, hidden.data());
  relu(rows * h, hidden.data());
  apply({node.value_layers.back(), i * count, count}, rows, hidden.data(), h, outputs.data());
  const float* follow = network_.parameters().values(node.follow) + i * h;
  std::vector<float> gradient(count);
  for (std::size_t r = 0; r < rows; ++r) {
    const std::uint32_t row = batch.order[segment.begin + r];
    const Entry& entry = *batch.entry[row];
    const Distribution p = component_of(*entry.distribution, i);
    const double x = entry.value[i];
    float* o = &outputs[r * count];
    const double log_q =
        proposal_log_prob(type, p, o, x, p.log_prob(x), backward_ ? gradient.data() : nullptr);
    log_s_[batch.position[row]] += log_q;
    add_loss(-log_q, &entry);
    for (std::size_t j = 0; backward_ && j < count; ++j) {
      o[j] = gradient[j] * static_cast<float>(weight());
    }
    followed_[i][r] = in_units_of(p, x);
    add_scaled(h, followed_[i][r], follow, &sums[r * h]);
  }
}

// Leaves in d_scratch_[0] the gradient of the sums before the first component.
void Gradient::back_through_components(const Batch::NodeSegment& segment) {
  const Node& node = network_.node(segment.node);
  Parameters& p = network_.parameters();
  const std::size_t rows = segment.end - segment.begin, h = p.block(node.follow).columns;
  const std::size_t count = node.proposal.of_component().outputs();
  std::vector<float>&d_sums = d_scratch_[0], &d_hidden = d_scratch_[1];
  reserve(d_sums, rows * h);
  reserve(d_hidden, rows * h);
  std::fill_n(d_sums.begin(), rows * h, 0.0f);
  touched_.push_back(node.follow);
  for (std::size_t i = node.proposal.size; i-- > 0;) {
    for (std::size_t r = 0; r < rows; ++r) {  // what came after it learned of this component
      add_scaled(h, followed_[i][r], &d_sums[r * h], p.gradients(node.follow) + i * h);
    }
    apply_back({node.value_layers.back(), i * count, count}, rows, hidden_[i].data(), h,
               outputs_[i].data(), d_hidden.data(), h, h, 0);
    relu_back(rows * h, hidden_[i].data(), d_hidden.data());
    add(rows * h, d_hidden.data(), d_sums.data());
  }
}

}  // namespace psn
