#include "psn/train/gradient.h"

#include <algorithm>
#include <cmath>

#include "psn/nn/math.h"
#include "psn/train/vectorize.h"

namespace psn {
namespace {

// One row of an LSTM cell, backwards: activations become gradients of the pre-activations; d_cell
// is that of this step's cell on entry, and of the step before on return.
PSN_VECTORIZE void lstm_gates_back(std::size_t h, float* __restrict gates,
                                   const float* __restrict cell_before,
                                   const float* __restrict cell_tanh,
                                   const float* __restrict d_hidden, float* __restrict d_cell) {
  float *i = gates, *f = gates + h, *g = gates + 2 * h, *o = gates + 3 * h;
  for (std::size_t j = 0; j < h; ++j) {
    const float in = i[j], forget = f[j], candidate = g[j], out = o[j], t = cell_tanh[j];
    const float d = d_cell[j] + d_hidden[j] * out * (1 - t * t);
    o[j] = d_hidden[j] * t * out * (1 - out);
    i[j] = d * candidate * in * (1 - in);
    g[j] = d * in * (1 - candidate * candidate);
    f[j] = d * cell_before[j] * forget * (1 - forget);
    d_cell[j] = d * forget;
  }
}

PSN_VECTORIZE void add(std::size_t n, const float* __restrict x, float* __restrict y) {
  for (std::size_t i = 0; i < n; ++i) y[i] += x[i];
}

PSN_VECTORIZE void add_scaled(std::size_t n, float a, const float* __restrict x,
                              float* __restrict y) {
  for (std::size_t i = 0; i < n; ++i) y[i] += a * x[i];
}

PSN_VECTORIZE void sum_two(std::size_t n, const float* __restrict a, const float* __restrict b,
                           float* __restrict y) {
  for (std::size_t i = 0; i < n; ++i) y[i] = a[i] + b[i];
}

PSN_VECTORIZE void relu(std::size_t n, float* x) {
  for (std::size_t i = 0; i < n; ++i) x[i] = x[i] > 0 ? x[i] : 0;
}

PSN_VECTORIZE void relu_back(std::size_t n, const float* __restrict y, float* __restrict d) {
  for (std::size_t i = 0; i < n; ++i) d[i] = y[i] > 0 ? d[i] : 0;
}

// log softmax of one entry; turns logits into (softmax - indicator) * scale.
double softmax_loss(std::size_t n, std::size_t target, float scale, float* logits) {
  float largest = logits[0];
  for (std::size_t i = 1; i < n; ++i) largest = std::max(largest, logits[i]);
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += std::exp(double{logits[i]} - largest);
  const double log_prob = double{logits[target]} - largest - std::log(sum);
  for (std::size_t i = 0; i < n; ++i) {
    const double p = std::exp(double{logits[i]} - largest) / sum;
    logits[i] = static_cast<float>(p - (i == target)) * scale;
  }
  return log_prob;
}

void reserve(std::vector<float>& buffer, std::size_t size) {
  if (buffer.size() < size) buffer.resize(size + size / 4);
}

}  // namespace

void Gradient::apply(BlockId id, std::size_t rows, const float* in, std::size_t ld_in,
                     float* out) const {
  const Block& block = network_.parameters().block(id);
  const float* weights = network_.parameters().values(id);
  const std::size_t n = block.rows, k = block.columns - 1;
  for (std::size_t j = 0; j < n; ++j) out[j] = weights[j * block.columns + k];
  for (std::size_t r = 1; r < rows; ++r) std::copy_n(out, n, out + r * n);
  nn::multiply_nt(rows, n, k, in, ld_in, weights, block.columns, 1, out, n);
}

void Gradient::apply_back(BlockId id, std::size_t rows, const float* in, std::size_t ld_in,
                          const float* d_out, float* d_in, std::size_t ld_d_in,
                          std::size_t d_columns, float beta) {
  Parameters& parameters = network_.parameters();
  const Block& block = parameters.block(id);
  const std::size_t n = block.rows, k = block.columns - 1;
  float* gradient = parameters.gradients(id);
  touched_.push_back(id);
  nn::multiply_tn(n, k, rows, d_out, n, in, ld_in, 1, gradient, block.columns);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t j = 0; j < n; ++j) gradient[j * block.columns + k] += d_out[r * n + j];
  }
  if (d_in) {
    nn::multiply_nn(rows, d_columns, n, d_out, n, parameters.values(id), block.columns, beta, d_in,
                    ld_d_in);
  }
}

BatchLoss Gradient::evaluate(const Batch& batch, std::vector<double>* log_prob) {
  backward_ = false;
  loss_ = Loss::kNegativeLogLikelihood;
  prepare(batch);
  embed_values(batch);
  project_nodes(batch);
  run_core(batch);
  run_heads(batch);
  return total(batch, log_prob);
}

BatchLoss Gradient::compute(const Batch& batch, Loss loss) {
  backward_ = true;
  loss_ = loss;
  Parameters& parameters = network_.parameters();
  for (const BlockId id : touched_) {
    const Block& block = parameters.block(id);
    std::fill_n(parameters.gradients(id), std::size_t{block.rows} * block.columns, 0.0f);
  }
  touched_.clear();
  prepare(batch);
  embed_values(batch);
  project_nodes(batch);
  run_core(batch);
  run_heads(batch);
  back_through_core(batch);
  back_through_nodes(batch);
  back_through_embeddings(batch);
  return total(batch, nullptr);
}

void Gradient::prepare(const Batch& batch) {
  const std::size_t rows = batch.rows(), h = network_.hidden(), e = network_.embedding();
  layers_.resize(network_.core().size());
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    Layer& layer = layers_[l];
    reserve(layer.input, rows * (h + (l == 0 ? e : h)));
    reserve(layer.gates, rows * 4 * h);
    for (auto* buffer : {&layer.cell, &layer.cell_tanh, &layer.hidden, &layer.d_hidden}) {
      reserve(*buffer, rows * h);
    }
  }
  reserve(head_input_, rows * (h + e));
  reserve(d_head_input_, rows * (h + e));
  reserve(d_embedding_, rows * e);
  log_s_.assign(batch.traces(), 0);
  loss_sum_ = 0;
  fault_ = nullptr;

  active_.assign(network_.size(), 0);
  active_nodes_.assign(1, Network::kBegin);
  for (const auto& segment : batch.segments) {
    active_[segment.node] = static_cast<std::uint32_t>(active_nodes_.size());
    active_nodes_.push_back(segment.node);
  }
}

// Values as numbers and their embeddings: inputs of the next step and of the transition layer.
void Gradient::embed_values(const Batch& batch) {
  const std::size_t h = network_.hidden(), e = network_.embedding();
  const std::size_t t = network_.config().transition_hidden_dim;
  std::size_t size = 0;
  last_offset_.clear();
  for (const auto& segment : batch.segments) {
    last_offset_.push_back(size);
    size += (segment.end - segment.begin) * (t + network_.node(segment.node).value.inputs());
  }
  reserve(last_input_, size);
  Layer& bottom = layers_[0];
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
      if (next != Batch::kNone) std::copy_n(&out[r * e], e, &bottom.input[next * (h + e) + h]);
    }
  }
}

// The address and type parts of the gates, for each node of the batch.
void Gradient::project_nodes(const Batch&) {
  const Parameters& p = network_.parameters();
  const auto& blocks = network_.projections();
  const std::size_t n = active_nodes_.size(), gates = network_.gates();
  const auto gather = [&](BlockId table, std::vector<float>& out, auto row_of) {
    const std::size_t width = p.block(table).columns;
    reserve(out, n * width);
    for (std::size_t i = 0; i < n; ++i) {
      std::copy_n(p.values(table) + row_of(active_nodes_[i]) * width, width, &out[i * width]);
    }
  };
  gather(network_.type_embedding(), types_,
         [&](NodeId id) { return std::size_t{network_.node(id).type_row}; });
  gather(network_.address_embedding(), addresses_, [](NodeId id) { return std::size_t{id}; });
  const auto project = [&](BlockId block, const std::vector<float>& in, float beta,
                           std::vector<float>& out) {
    const std::size_t k = p.block(block).columns;
    nn::multiply_nt(n, gates, k, in.data(), k, p.values(block), k, beta, out.data(), gates);
  };
  reserve(previous_table_, n * gates);
  reserve(current_table_, n * gates);
  for (std::size_t i = 0; i < n; ++i) {
    std::copy_n(p.values(network_.core()[0].bias), gates, &current_table_[i * gates]);
  }
  project(blocks.previous_type, types_, 0, previous_table_);
  project(blocks.previous_address, addresses_, 1, previous_table_);
  project(blocks.current_type, types_, 1, current_table_);
  project(blocks.current_address, addresses_, 1, current_table_);
}

void Gradient::run_core(const Batch& batch) {
  const Parameters& p = network_.parameters();
  const std::size_t h = network_.hidden(), gates = network_.gates();
  const bool counted = network_.config().addressing == Addressing::kSite;
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    Layer& layer = layers_[l];
    const CoreLayer& core = network_.core()[l];
    const std::size_t ld = p.block(core.recurrent).columns, inputs = ld - h;
    for (std::size_t t = 0; t < batch.steps(); ++t) {
      const std::size_t first = batch.first[t], width = batch.width(t);
      const std::size_t before = t ? batch.first[t - 1] : 0;
      for (std::size_t b = 0; b < width; ++b) {
        const std::size_t row = first + b;
        float* gate = &layer.gates[row * gates];
        if (l == 0) {
          const std::uint32_t previous = t ? active_[batch.node[before + b]] : 0;
          sum_two(gates, &previous_table_[previous * gates],
                  &current_table_[active_[batch.node[row]] * gates], gate);
          if (counted) {
            add_scaled(gates, instance_feature(batch.entry[row]->address->instance),
                       p.values(network_.projections().instance), gate);
          }
        } else {
          std::copy_n(p.values(core.bias), gates, gate);
          std::copy_n(&layers_[l - 1].hidden[row * h], h, &layer.input[row * ld + h]);
        }
        if (t) {
          std::copy_n(&layer.hidden[(before + b) * h], h, &layer.input[row * ld]);
          std::copy_n(&layer.cell[(before + b) * h], h, &layer.cell[row * h]);
        } else {
          std::fill_n(&layer.input[row * ld], l ? h : ld, 0.0f);
          std::fill_n(&layer.cell[row * h], h, 0.0f);
        }
      }
      if (t || l) {
        const std::size_t skip = t ? 0 : h;  // nothing came before
        nn::multiply_nt(width, gates, h + inputs - skip, &layer.input[first * ld + skip], ld,
                        p.values(core.recurrent) + skip, ld, 1, &layer.gates[first * gates], gates);
      }
      for (std::size_t row = first; row < first + width; ++row) {
        nn::lstm_gates(h, &layer.gates[row * gates], &layer.cell[row * h],
                       &layer.cell_tanh[row * h], &layer.hidden[row * h]);
      }
    }
  }
}

void Gradient::run_heads(const Batch& batch) {
  const std::size_t h = network_.hidden(), ld = h + network_.embedding();
  Layer& top = layers_.back();
  for (std::size_t place = 0; place < batch.rows(); ++place) {
    std::copy_n(&top.hidden[batch.order[place] * h], h, &head_input_[place * ld]);
  }
  begin_head(batch);
  for (const auto& segment : batch.segments) {
    value_head(batch, segment);
    transition_head(batch, segment);
  }
  if (!backward_) return;
  for (std::size_t place = 0; place < batch.rows(); ++place) {
    std::copy_n(&d_head_input_[place * ld], h, &top.d_hidden[batch.order[place] * h]);
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
    const double log_prob = softmax_loss(n, begin.successor_row.at(batch.first_node[at]),
                                         1.0f / static_cast<float>(batch.traces()), logits.data());
    log_s_[at] += log_prob;
    loss_sum_ -= log_prob;
    if (backward_) add(n, logits.data(), p.gradients(begin.transition));
  }
}

void Gradient::value_head(const Batch& batch, const Batch::Segment& segment) {
  const Node& node = network_.node(segment.node);
  const std::size_t rows = segment.end - segment.begin, h = network_.hidden();
  const std::size_t ld = h + network_.embedding(), depth = node.value_layers.size();
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
  const float scale = 1.0f / static_cast<float>(batch.traces());
  // The ends of a Uniform are learned from the simulator's own, whatever the loss.
  const bool from_distribution =
      loss_ == Loss::kDivergence || node.value.family == Family::kUniform;
  for (std::size_t r = 0; r < rows; ++r) {
    const std::uint32_t row = batch.order[segment.begin + r];
    const Entry& entry = *batch.entry[row];
    const Distribution* p =
        from_distribution && entry.distribution ? &*entry.distribution : nullptr;
    float* d = backward_ ? &d_scratch_[0][r * outputs] : nullptr;
    const HeadLoss loss =
        head_loss(node.value, node.scaling, &scratch_[depth - 1][r * outputs], entry.value, p, d);
    log_s_[batch.position[row]] += loss.log_prob;
    loss_sum_ += loss.loss;
    if (!std::isfinite(loss.loss) && !fault_) fault_ = &entry;
    if (d) {
      for (std::size_t j = 0; j < outputs; ++j) d[j] *= scale;
    }
  }
  if (!backward_) return;
  std::size_t side = 0;
  for (std::size_t i = depth; i-- > 0;) {
    float* d_in = &d_head_input_[segment.begin * ld];
    if (i > 0) {
      reserve(d_scratch_[1 - side], rows * width(i - 1));
      d_in = d_scratch_[1 - side].data();
    }
    const std::size_t in = i ? width(i - 1) : h;
    apply_back(node.value_layers[i], rows, i ? scratch_[i - 1].data() : input, i ? in : ld,
               d_scratch_[side].data(), d_in, i ? in : ld, in, 0);
    if (i > 0) relu_back(rows * in, scratch_[i - 1].data(), d_in);
    side = 1 - side;
  }
}

void Gradient::transition_head(const Batch& batch, const Batch::Segment& segment) {
  const Node& node = network_.node(segment.node);
  const std::size_t rows = segment.end - segment.begin;
  const std::size_t h = network_.hidden(), ld = h + network_.embedding();
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

  const float scale = 1.0f / static_cast<float>(batch.traces());
  NodeId successor = Batch::kNone;
  std::size_t target = 0;
  for (std::size_t r = 0; r < rows; ++r) {
    const std::uint32_t row = batch.order[segment.begin + r];
    if (batch.next[row] != successor) {
      successor = batch.next[row];
      target = node.successor_row.at(successor);
    }
    const double log_prob = softmax_loss(n, target, scale, &logits[r * n]);
    log_s_[batch.position[row]] += log_prob;
    loss_sum_ -= log_prob;
    if (!std::isfinite(log_prob) && !fault_) fault_ = batch.entry[row];
  }
  if (!backward_) return;
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

void Gradient::back_through_core(const Batch& batch) {
  Parameters& p = network_.parameters();
  const std::size_t h = network_.hidden(), gates = network_.gates(), rows = batch.rows();
  const std::vector<float> zero(h, 0.0f);
  for (std::size_t l = layers_.size(); l-- > 0;) {
    Layer& layer = layers_[l];
    const CoreLayer& core = network_.core()[l];
    const std::size_t ld = p.block(core.recurrent).columns;
    d_cell_.assign(batch.traces() * h, 0.0f);
    for (std::size_t t = batch.steps(); t-- > 0;) {
      const std::size_t first = batch.first[t], width = batch.width(t);
      const std::size_t before = t ? batch.first[t - 1] : 0;
      for (std::size_t b = 0; b < width; ++b) {
        const std::size_t row = first + b;
        lstm_gates_back(h, &layer.gates[row * gates],
                        t ? &layer.cell[(before + b) * h] : zero.data(), &layer.cell_tanh[row * h],
                        &layer.d_hidden[row * h], &d_cell_[b * h]);
      }
      if (t) {
        nn::multiply_nn(width, h, gates, &layer.gates[first * gates], gates,
                        p.values(core.recurrent), ld, 1, &layer.d_hidden[before * h], h);
      }
    }
    nn::multiply_tn(gates, ld, rows, layer.gates.data(), gates, layer.input.data(), ld, 1,
                    p.gradients(core.recurrent), ld);
    float* d_input = l ? layers_[l - 1].d_hidden.data() : d_embedding_.data();
    nn::multiply_nn(rows, ld - h, gates, layer.gates.data(), gates, p.values(core.recurrent) + h,
                    ld, 0, d_input, ld - h);
    touched_.push_back(core.recurrent);
    touched_.push_back(core.bias);
    if (l > 0) {
      for (std::size_t r = 0; r < rows; ++r) {
        add(gates, &layer.gates[r * gates], p.gradients(core.bias));
      }
    }
  }
}

void Gradient::back_through_nodes(const Batch& batch) {
  Parameters& p = network_.parameters();
  const auto& blocks = network_.projections();
  const std::size_t n = active_nodes_.size(), gates = network_.gates();
  const bool counted = network_.config().addressing == Addressing::kSite;
  std::vector<float>&d_previous = previous_table_, &d_current = current_table_;
  std::fill_n(d_previous.begin(), n * gates, 0.0f);
  std::fill_n(d_current.begin(), n * gates, 0.0f);
  for (std::size_t t = 0; t < batch.steps(); ++t) {
    for (std::size_t b = 0; b < batch.width(t); ++b) {
      const std::size_t row = batch.first[t] + b;
      const std::uint32_t previous = t ? active_[batch.node[batch.first[t - 1] + b]] : 0;
      const float* d = &layers_[0].gates[row * gates];
      add(gates, d, &d_previous[previous * gates]);
      add(gates, d, &d_current[active_[batch.node[row]] * gates]);
      if (counted) {
        add_scaled(gates, instance_feature(batch.entry[row]->address->instance), d,
                   p.gradients(blocks.instance));
      }
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    add(gates, &d_current[i * gates], p.gradients(network_.core()[0].bias));
  }
  std::vector<float> d_embedding;
  const auto back = [&](BlockId from_previous, BlockId from_current, BlockId table,
                        const std::vector<float>& in, auto row_of) {
    const std::size_t k = p.block(table).columns;
    d_embedding.assign(n * k, 0.0f);
    for (const auto& [block, d] :
         {std::pair{from_previous, &d_previous}, {from_current, &d_current}}) {
      nn::multiply_tn(gates, k, n, d->data(), gates, in.data(), k, 1, p.gradients(block), k);
      nn::multiply_nn(n, k, gates, d->data(), gates, p.values(block), k, 1, d_embedding.data(), k);
      touched_.push_back(block);
    }
    for (std::size_t i = 0; i < n; ++i) {
      add(k, &d_embedding[i * k], p.gradients(table) + row_of(active_nodes_[i]) * k);
    }
    touched_.push_back(table);
  };
  back(blocks.previous_type, blocks.current_type, network_.type_embedding(), types_,
       [&](NodeId id) { return std::size_t{network_.node(id).type_row}; });
  back(blocks.previous_address, blocks.current_address, network_.address_embedding(), addresses_,
       [](NodeId id) { return std::size_t{id}; });
  if (counted) touched_.push_back(blocks.instance);
}

void Gradient::back_through_embeddings(const Batch& batch) {
  const std::size_t h = network_.hidden(), e = network_.embedding();
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
        for (std::size_t j = 0; j < e; ++j) d[r * e + j] += d_embedding_[next * e + j];
      }
    }
    const float* last = last_input_.data() + last_offset_[s];
    apply_back(node.embedding, rows, last + t, t + node.value.inputs(), d.data(), nullptr, 0, 0, 0);
  }
}

BatchLoss Gradient::total(const Batch& batch, std::vector<double>* log_prob) const {
  BatchLoss result;
  const auto count = static_cast<double>(std::max<std::size_t>(1, batch.traces()));
  if (log_prob) log_prob->assign(batch.traces(), 0);
  for (std::size_t at = 0; at < batch.traces(); ++at) {
    result.log_prob += log_s_[at] / count;
    result.kl += (batch.log_p[at] - log_s_[at]) / count;
    if (log_prob) (*log_prob)[batch.trace[at]] = log_s_[at];
  }
  result.loss = loss_sum_ / count;
  result.fault = fault_;
  return result;
}

}  // namespace psn
