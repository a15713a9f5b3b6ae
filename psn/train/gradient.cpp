#include "psn/train/gradient.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "psn/nn/kernels.h"
#include "psn/nn/math.h"

namespace psn {

using namespace kernels;

Gradient::Gradient(Network& network)
    : network_(network), core_(network.core().tape()), observations_(network) {
  nn::use_one_thread_for_products();
}

void Gradient::apply_back(LayerRows layer, std::size_t rows, const float* in, std::size_t ld_in,
                          const float* d_out, float* d_in, std::size_t ld_d_in,
                          std::size_t d_columns, float beta) {
  touched_.push_back(layer.block);
  apply_layer_back(network_.parameters(), layer, rows, in, ld_in, d_out, d_in, ld_d_in, d_columns,
                   beta);
}

BatchLoss Gradient::evaluate(const Batch& batch, std::vector<double>* log_prob) {
  backward_ = false;
  traces_ = batch.traces();
  loss_ = Loss::kNegativeLogLikelihood;
  run_forward(batch);
  return total(batch, log_prob);
}

void BatchLoss::add(const BatchLoss& other) {
  loss += other.loss;
  log_prob += other.log_prob;
  kl += other.kl;
  if (!other.worst) return;
  if (worst && (!std::isfinite(worst_loss) || other.worst_loss <= worst_loss)) return;
  worst = other.worst;
  worst_loss = other.worst_loss;
}

void Gradient::clear() {
  Parameters& parameters = network_.parameters();
  for (const BlockId id : touched_) {
    const Block& block = parameters.block(id);
    std::fill_n(parameters.gradients(id), std::size_t{block.rows} * block.columns, 0.0f);
  }
  touched_.clear();
}

BatchLoss Gradient::accumulate(const Batch& batch, Loss loss, std::size_t total_traces) {
  backward_ = true;
  traces_ = total_traces;
  loss_ = loss;
  if (batch.traces() == 0) return {};
  const bool first = touched_.empty();
  run_forward(batch);
  core_->back(network_.parameters(), touched_);
  back_through_nodes(batch);
  back_through_tallies(batch);
  back_through_embeddings(batch);
  if (network_.recalls()) back_through_recall(batch);
  if (network_.infers()) back_through_observations(batch);
  if (!first) touch_once();
  return total(batch, nullptr);
}

// Parts share most of their blocks; who is touched twice would be updated twice.
void Gradient::touch_once() {
  std::vector<char> seen(network_.parameters().block_count());
  std::erase_if(touched_, [&](BlockId id) { return std::exchange(seen[id], char{1}) != 0; });
}

void Gradient::run_forward(const Batch& batch) {
  prepare(batch);
  embed_values(batch);
  if (network_.recalls()) recall_values(batch);
  project_nodes(batch);
  if (network_.infers()) observations_.compute(batch, observed_);
  core_->forward(network_.parameters(), [&](std::size_t step) { fill_core_inputs(batch, step); });
  run_heads(batch);
}

void Gradient::prepare(const Batch& batch) {
  const std::size_t rows = batch.rows(), e = network_.embedding();
  core_->start(batch.first);
  reserve(head_input_, rows * (head_width() + e));
  reserve(d_head_input_, rows * (head_width() + e));
  log_s_.assign(batch.traces(), 0);
  loss_sum_ = 0;
  worst_ = nullptr;

  active_.assign(network_.size(), 0);
  active_nodes_.assign(1, Network::kBegin);
  for (const auto& segment : batch.segments) {
    active_[segment.node] = static_cast<std::uint32_t>(active_nodes_.size());
    active_nodes_.push_back(segment.node);
  }
}

// Values as numbers and their embeddings: inputs of the next step and of the transition layer.
void Gradient::embed_values(const Batch& batch) {
  const std::size_t h = head_width(), e = network_.embedding();
  const std::size_t t = network_.config().transition_hidden_dim;
  std::size_t size = 0;
  last_offset_.clear();
  for (const auto& segment : batch.segments) {
    last_offset_.push_back(size);
    size += (segment.end - segment.begin) * (t + network_.node(segment.node).value.inputs());
  }
  reserve(last_input_, size);
  std::vector<float>& out = d_scratch_[0];
  for (std::size_t s = 0; s < batch.segments.size(); ++s) {
    const auto& segment = batch.segments[s];
    const Node& node = network_.node(segment.node);
    const std::size_t rows = segment.end - segment.begin, ld = t + node.value.inputs();
    float* last = last_input_.data() + last_offset_[s];
    for (std::size_t r = 0; r < rows; ++r) {
      const Entry& entry = *batch.entry[batch.order[segment.begin + r]];
      represent(node.value, node.scaling, entry.value, last + r * ld + t);
    }
    reserve(out, rows * e);
    apply(node.embedding, rows, last + t, ld, out.data());
    for (std::size_t r = 0; r < rows; ++r) {
      const std::size_t place = segment.begin + r;
      const std::uint32_t next = batch.next_row[batch.order[place]];
      std::copy_n(&out[r * e], e, &head_input_[place * (h + e) + h]);
      if (next != Batch::kNone) std::copy_n(&out[r * e], e, core_->embedded(next));
    }
  }
}

void Gradient::back_through_embeddings(const Batch& batch) {
  const std::size_t h = head_width(), e = network_.embedding();
  const std::size_t t = network_.config().transition_hidden_dim;
  for (std::size_t s = 0; s < batch.segments.size(); ++s) {
    const auto& segment = batch.segments[s];
    const Node& node = network_.node(segment.node);
    const std::size_t rows = segment.end - segment.begin;
    std::vector<float>& d = d_scratch_[0];
    reserve(d, rows * e);
    for (std::size_t r = 0; r < rows; ++r) {
      const std::size_t place = segment.begin + r;
      const std::uint32_t next = batch.next_row[batch.order[place]];
      std::copy_n(&d_head_input_[place * (h + e) + h], e, &d[r * e]);
      if (next != Batch::kNone) {
        const float* d_next = core_->d_embedded(next);
        for (std::size_t j = 0; j < e; ++j) d[r * e + j] += d_next[j];
      }
    }
    const float* last = last_input_.data() + last_offset_[s];
    apply_back(node.embedding, rows, last + t, t + node.value.inputs(), d.data(), nullptr, 0, 0, 0);
  }
}

void Gradient::add_loss(double loss, const Entry* entry) {
  loss_sum_ += loss;
  if (worst_ && (!std::isfinite(worst_loss_) || loss <= worst_loss_)) return;
  worst_ = entry->address;
  worst_loss_ = loss;
}

BatchLoss Gradient::total(const Batch& batch, std::vector<double>* log_prob) const {
  BatchLoss result;
  if (log_prob) log_prob->assign(batch.traces(), 0);
  for (std::size_t at = 0; at < batch.traces(); ++at) {
    result.log_prob += log_s_[at] * weight();
    result.kl += (batch.log_p[at] - log_s_[at]) * weight();
    if (log_prob) (*log_prob)[batch.trace[at]] = log_s_[at];
  }
  result.loss = loss_sum_ * weight();
  result.worst = worst_;
  result.worst_loss = worst_loss_;
  return result;
}

// Only what some rank has touched is sent: of a large vocabulary that is little.
void Gradient::add_up(Communicator& ranks, BatchLoss& loss) {
  if (ranks.alone()) return;
  Parameters& parameters = network_.parameters();
  constexpr BlockId kBits = 64;
  std::vector<std::uint64_t> bits(parameters.block_count() / kBits + 1);
  for (const BlockId id : touched_) bits[id / kBits] |= std::uint64_t{1} << id % kBits;
  ranks.any(bits);
  touched_.clear();
  message_.clear();
  for (BlockId id = 0; id < parameters.block_count(); ++id) {
    if (!(bits[id / kBits] >> id % kBits & 1)) continue;
    const Block& block = parameters.block(id);
    const float* gradient = parameters.gradients(id);
    touched_.push_back(id);
    message_.insert(message_.end(), gradient, gradient + std::size_t{block.rows} * block.columns);
  }
  ranks.sum(message_);
  const float* from = message_.data();
  for (const BlockId id : touched_) {
    const Block& block = parameters.block(id);
    const std::size_t size = std::size_t{block.rows} * block.columns;
    std::copy_n(from, size, parameters.gradients(id));
    from += size;
  }
  double sums[] = {loss.loss, loss.log_prob, loss.kl};
  ranks.sum(sums);
  std::tie(loss.loss, loss.log_prob, loss.kl) = std::tie(sums[0], sums[1], sums[2]);
}

}  // namespace psn
