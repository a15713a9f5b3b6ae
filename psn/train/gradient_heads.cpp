// The layers that belong to a node, with their losses: forward, and back at once.
#include "psn/train/gradient.h"

#include <algorithm>
#include <cmath>

#include "psn/nn/kernels.h"
#include "psn/nn/math.h"
#include "psn/nn/steps.h"

namespace psn {

using namespace kernels;

namespace {

// A tag's value, blurred by a little of its spread: what is learned exactly would have a deviation
// that shrinks without end, and gradients that grow as it does.
Distribution blurred_tag(const Node& node, const Value& value) {
  constexpr double kBlur = 0.05;
  std::vector<double> deviation(node.scaling.scale.begin(), node.scaling.scale.end());
  for (double& d : deviation) d *= kBlur;
  return Normal(value, Value(std::move(deviation), value.shape()));
}

}  // namespace

void Gradient::run_heads(const Batch& batch) {
  const std::size_t h = network_.hidden(), ld = head_width() + network_.embedding();
  for (std::size_t place = 0; place < batch.rows(); ++place) {
    float* input = &head_input_[place * ld];
    std::copy_n(core_->output(batch.order[place]), h, input);
    if (network_.context() > 0)
      std::copy_n(context_of(batch, place), network_.context(), input + h);
  }
  if (network_.infers()) {
    std::fill_n(d_head_input_.begin(), batch.rows() * ld, 0.0f);
  } else {
    begin_head(batch);
  }
  for (const auto& segment : batch.segments) {
    if (network_.node(segment.node).proposal.sequential) {
      sequential_head(batch, segment);
    } else {
      value_head(batch, segment);
    }
    if (!network_.infers()) transition_head(batch, segment);
  }
  if (!backward_) return;
  for (std::size_t place = 0; place < batch.rows(); ++place) {
    std::copy_n(&d_head_input_[place * ld], h, core_->d_output(batch.order[place]));
  }
}

void Gradient::begin_head(const Batch& batch) {
  const Node& begin = network_.node(Network::kBegin);
  Parameters& p = network_.parameters();
  const std::size_t n = p.block(begin.transition).rows;
  std::vector<float> logits(n);
  if (backward_) touched_.push_back(begin.transition);
  for (std::size_t at = 0; at < batch.traces(); ++at) {
    std::copy_n(p.values(begin.transition), n, logits.data());
    const double log_prob =
        softmax_loss(n, batch.first_transition[at], static_cast<float>(weight()), logits.data());
    log_s_[at] += log_prob;
    loss_sum_ -= log_prob;
    if (backward_) add(n, logits.data(), p.gradients(begin.transition));
  }
}

HeadLoss Gradient::value_loss(const Node& node, const Entry& entry, const float* outputs,
                              float* d) const {
  if (network_.infers()) {
    const double log_q = proposal_log_prob(node.proposal, *entry.distribution, outputs, entry.value,
                                           entry.log_prob, d);
    return {-log_q, log_q};
  }
  if (is_derived(node)) {
    const Distribution blurred = blurred_tag(node, entry.value);
    return head_loss(node.value, node.scaling, outputs, entry.value, &blurred, d);
  }
  // The ends of a Uniform are learned from the simulator's own, whatever the loss.
  const bool from_distribution =
      loss_ == Loss::kDivergence || node.value.family == family_of<Uniform>;
  const Distribution* p = from_distribution ? entry.distribution.get() : nullptr;
  return head_loss(node.value, node.scaling, outputs, entry.value, p, d);
}

void Gradient::value_head(const Batch& batch, const Batch::NodeSegment& segment) {
  const Node& node = network_.node(segment.node);
  const std::size_t rows = segment.end - segment.begin, depth = node.value_layers.size();
  const std::size_t ld = head_width() + network_.embedding();
  const auto width = [&](std::size_t i) {
    return std::size_t{network_.parameters().block(node.value_layers[i]).rows};
  };
  if (scratch_.size() < depth) scratch_.resize(depth);
  const float* input = &head_input_[segment.begin * ld];
  for (std::size_t i = 0; i < depth; ++i) {
    reserve(scratch_[i], rows * width(i));
    apply(node.value_layers[i], rows, i ? scratch_[i - 1].data() : input, i ? width(i - 1) : ld,
          scratch_[i].data());
    if (i + 1 < depth) relu(rows * width(i), scratch_[i].data());
  }

  const std::size_t outputs = width(depth - 1);
  reserve(d_scratch_[0], rows * outputs);
  // A tag is no part of the density: it is learned as one number, however many it has. What is
  // observed is learned as all that it is, for it will be conditioned on.
  const bool derived = is_derived(node);
  const double share = is_derived(node.role) ? 1 / static_cast<double>(node.value.components()) : 1;
  const auto scale = static_cast<float>(weight() * share);
  for (std::size_t r = 0; r < rows; ++r) {
    const std::uint32_t row = batch.order[segment.begin + r];
    const Entry& entry = *batch.entry[row];
    float* d = backward_ ? &d_scratch_[0][r * outputs] : nullptr;
    const HeadLoss loss = value_loss(node, entry, &scratch_[depth - 1][r * outputs], d);
    if (!derived) log_s_[batch.position[row]] += loss.log_prob;
    add_loss(loss.loss * share, &entry);
    if (d) {
      for (std::size_t j = 0; j < outputs; ++j) d[j] *= scale;
    }
  }
  if (backward_) back_through_layers(node, segment, depth);
}

// Through the first `depth` value layers, from the gradient of the last one's outputs in
// d_scratch_[0]; scratch_ has their outputs.
void Gradient::back_through_layers(const Node& node, const Batch::NodeSegment& segment,
                                   std::size_t depth) {
  const std::size_t rows = segment.end - segment.begin;
  const std::size_t ld = head_width() + network_.embedding();
  std::size_t side = 0;
  for (std::size_t i = depth; i-- > 0;) {
    const std::size_t in =
        i ? std::size_t{network_.parameters().block(node.value_layers[i - 1]).rows} : head_width();
    float* d_in = &d_head_input_[segment.begin * ld];
    if (i > 0) {
      reserve(d_scratch_[1 - side], rows * in);
      d_in = d_scratch_[1 - side].data();
    }
    apply_back(node.value_layers[i], rows,
               i ? scratch_[i - 1].data() : &head_input_[segment.begin * ld], i ? in : ld,
               d_scratch_[side].data(), d_in, i ? in : ld, in, 0);
    if (i > 0) relu_back(rows * in, scratch_[i - 1].data(), d_in);
    side = 1 - side;
  }
}

void Gradient::transition_head(const Batch& batch, const Batch::NodeSegment& segment) {
  const Node& node = network_.node(segment.node);
  const std::size_t rows = segment.end - segment.begin;
  const std::size_t h = head_width(), ld = h + network_.embedding();
  const std::size_t t = network_.config().transition_hidden_dim, last_ld = t + node.value.inputs();
  const auto index = static_cast<std::size_t>(&segment - batch.segments.data());
  float* last = last_input_.data() + last_offset_[index];
  const float* input = &head_input_[segment.begin * ld];

  std::vector<float>&hidden = d_scratch_[0], &logits = d_scratch_[1];
  reserve(hidden, rows * t);
  apply(node.transition_hidden, rows, input, ld, hidden.data());
  relu(rows * t, hidden.data());
  for (std::size_t r = 0; r < rows; ++r) std::copy_n(&hidden[r * t], t, last + r * last_ld);
  const std::size_t n = network_.parameters().block(node.transition).rows;
  reserve(logits, rows * n);
  apply(node.transition, rows, last, last_ld, logits.data());
  const std::size_t tallied = network_.tally_inputs();
  if (tallied > 0) {
    reserve(tallied_, rows * tallied);
    for (std::size_t r = 0; r < rows; ++r) {
      std::copy_n(&batch.tally[batch.order[segment.begin + r] * tallied], tallied,
                  &tallied_[r * tallied]);
    }
    nn::multiply_nt(rows, n, tallied, tallied_.data(), tallied,
                    network_.parameters().values(node.transition_tally), tallied, 1, logits.data(),
                    n);
  }

  const auto scale = static_cast<float>(weight());
  for (std::size_t r = 0; r < rows; ++r) {
    const std::uint32_t row = batch.order[segment.begin + r];
    const double log_prob = softmax_loss(n, batch.transition[row], scale, &logits[r * n]);
    log_s_[batch.position[row]] += log_prob;
    add_loss(-log_prob, batch.entry[row]);
  }
  if (!backward_) return;
  if (tallied > 0) {
    nn::multiply_tn(n, tallied, rows, logits.data(), n, tallied_.data(), tallied, 1,
                    network_.parameters().gradients(node.transition_tally), tallied);
    touched_.push_back(node.transition_tally);
  }
  std::vector<float>& d_hidden = d_scratch_[0];
  if (scratch_.empty()) scratch_.resize(1);
  reserve(scratch_[0], rows * t);
  std::copy_n(d_hidden.data(), rows * t, scratch_[0].data());  // the activations, for relu_back
  apply_back(node.transition, rows, last, last_ld, logits.data(), d_hidden.data(), t, t, 0);
  relu_back(rows * t, scratch_[0].data(), d_hidden.data());
  // The value layers have written the part of h; the embedding's part is only ours.
  float* d_input = &d_head_input_[segment.begin * ld];
  for (std::size_t r = 0; r < rows; ++r) std::fill_n(d_input + r * ld + h, ld - h, 0.0f);
  apply_back(node.transition_hidden, rows, input, ld, d_hidden.data(), d_input, ld, ld, 1);
}

}  // namespace psn
