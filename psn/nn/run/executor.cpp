#include "psn/nn/run/executor.h"

#include <fmt/format.h>

#include <algorithm>

#include "psn/base/error.h"
#include "psn/nn/math.h"

namespace psn {

using nn::PackedMatrix;

namespace {

void add_scaled(std::size_t n, float factor, const float* __restrict x, float* __restrict y) {
  if (factor == 0) return;
  for (std::size_t j = 0; j < n; ++j) y[j] += factor * x[j];
}

}  // namespace

Executor::Executor(std::shared_ptr<const CompiledNetwork> network, std::size_t rows)
    : compiled_(std::move(network)),
      network_(compiled_->network()),
      h_(network_.hidden()),
      c_(network_.context()),
      e_(network_.embedding()),
      nodes_(rows, Network::kBegin),
      core_(compiled_->core_->rows(rows)),
      embedded_(rows * e_),
      recalled_(network_),
      tally_inputs_(network_.tally_inputs()) {
  recalled_.resize(rows);
  if (tally_inputs_ > 0) tallies_.assign(rows, Tally(*network_.tally()));
}

void Executor::set_observed(std::vector<float> inputs) {
  context_.assign(inputs.end() - static_cast<std::ptrdiff_t>(network_.context()), inputs.end());
  inputs.resize(network_.core_inputs());
  observed_ = std::move(inputs);
}

void Executor::restart(Row row) {
  if (row >= nodes_.size()) {
    const std::size_t rows = row + 1;
    nodes_.resize(rows, Network::kBegin);
    core_->resize(rows);
    embedded_.resize(rows * e_);
    recalled_.resize(rows);
    if (tally_inputs_ > 0) tallies_.resize(rows, Tally(*network_.tally()));
  }
  nodes_[row] = Network::kBegin;
  recalled_.restart(row);
  if (tally_inputs_ > 0) tallies_[row].restart();
  core_->restart(row);
  std::fill_n(embedded(row), e_, 0.0f);
}

void Executor::copy(Row from, Row to) {
  if (from == to) return;
  restart(to);
  nodes_[to] = nodes_[from];
  core_->copy(from, to);
  std::copy_n(embedded(from), e_, embedded(to));
  recalled_.copy(from, to);
  if (tally_inputs_ > 0) tallies_[to] = tallies_[from];
}

template <class RowOf>
void Executor::gather_tallies(std::size_t count, RowOf row_of) {
  if (tallied_.size() < count * tally_inputs_) tallied_.resize(count * tally_inputs_);
  for (std::size_t i = 0; i < count; ++i) {
    std::copy_n(tallies_[row_of(i)].inputs().data(), tally_inputs_, &tallied_[i * tally_inputs_]);
  }
}

// A counting sort; segments are cut at the ends of chunks.
template <class NodeOf>
void Executor::group(std::size_t count, NodeOf node_of) {
  places_.assign(network_.size() + 1, 0);
  for (std::size_t i = 0; i < count; ++i) ++places_[node_of(i) + 1];
  segments_.clear();
  for (NodeId node = 0; node < network_.size(); ++node) {
    const std::size_t end = places_[node] + places_[node + 1];
    for (std::size_t first = places_[node]; first < end;) {
      const std::size_t stop = std::min(end, (first / kChunk + 1) * kChunk);
      segments_.push_back({node, first, stop - first});
      first = stop;
    }
    places_[node + 1] = static_cast<std::uint32_t>(end);
  }
  order_.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    order_[places_[node_of(i)]++] = static_cast<std::uint32_t>(i);
  }
}

void Executor::step(std::span<const Next> next, const VisitOutputs& visit,
                    const VisitComponent& visit_component) {
  group(next.size(), [&](std::size_t i) { return next[i].node; });
  auto segment = segments_.begin();
  for (std::size_t first = 0; first < next.size(); first += kChunk) {
    const std::size_t count = std::min(kChunk, next.size() - first);
    move_core(next, first, count);
    for (; segment != segments_.end() && segment->first < first + count; ++segment) {
      if (compiled_->nodes_[segment->node].components.empty()) {
        value_heads(*segment, first, visit);
      } else if (visit_component) {
        sequential_heads(*segment, first, visit_component);
      }
    }
  }
}

// One step of the core for a chunk of rows; leaves its outputs in top_.
void Executor::move_core(std::span<const Next> next, std::size_t first, std::size_t count) {
  const std::size_t stride = compiled_->table_stride_;
  core_inputs_.resize(kChunk * stride);
  const std::size_t width = h_ + c_, inputs = network_.core_inputs();
  top_.resize(kChunk * width);
  rows_.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    const Next& n = next[order_[first + i]];
    const float* previous = compiled_->previous_.data() + nodes_[n.row] * stride;
    const float* current = compiled_->current_.data() + n.node * stride;
    float* out = core_inputs_.data() + i * stride;
    for (std::size_t j = 0; j < stride; ++j) out[j] = previous[j] + current[j];
    if (!compiled_->instance_.empty()) {
      add_scaled(inputs, instance_feature(n.address->instance), compiled_->instance_.data(), out);
    }
    if (!compiled_->index_.empty()) {
      const float* weights = compiled_->index_.data();
      for (const float feature : index_features(n.address->variable->index)) {
        add_scaled(inputs, feature, weights, out);
        weights += inputs;
      }
    }
    for (std::size_t j = 0; j < observed_.size(); ++j) out[j] += observed_[j];
    nodes_[n.row] = n.node;
    rows_[i] = n.row;
  }
  if (tally_inputs_ > 0) {
    gather_tallies(count, [&](std::size_t i) { return rows_[i]; });
    compiled_->tally_.add_to(count, tallied_.data(), tally_inputs_, core_inputs_.data(), stride);
  }
  core_->step({rows_, core_inputs_.data(), stride, embedded_.data()});
  for (std::size_t i = 0; i < count; ++i) {
    std::copy_n(core_->output(rows_[i]), h_, &top_[i * width]);
    if (c_ == 0) continue;
    const float* context = context_.empty() ? recalled_.sum(rows_[i]) : context_.data();
    std::copy_n(context, c_, &top_[i * width + h_]);
  }
}

Executor::Rows Executor::run_layers(const std::vector<PackedMatrix>& layers,
                                    const NodeSegment& segment, std::size_t first) {
  std::size_t width = h_ + c_;
  float* in = top_.data() + (segment.first - first) * width;
  std::vector<float>* out = &first_;
  for (std::size_t layer = 0; layer < layers.size(); ++layer) {
    const std::size_t padded = layers[layer].padded();
    if (out->size() < segment.count * padded) out->resize(segment.count * padded);
    if (layer + 1 < layers.size()) {
      layers[layer].apply_relu(segment.count, in, width, out->data(), padded);
    } else {
      layers[layer].apply(segment.count, in, width, out->data(), padded);
    }
    in = out->data();
    width = padded;
    out = out == &first_ ? &second_ : &first_;
  }
  return {in, width};
}

void Executor::value_heads(const NodeSegment& segment, std::size_t first,
                           const VisitOutputs& visit) {
  const Rows rows = run_layers(compiled_->nodes_[segment.node].value, segment, first);
  for (std::size_t i = 0; i < segment.count; ++i) {
    visit(order_[segment.first + i], rows.data + i * rows.stride);
  }
}

// As psn/train/sequential_head.cpp has it.
void Executor::sequential_heads(const NodeSegment& segment, std::size_t first,
                                const VisitComponent& visit) {
  const CompiledNetwork::NodeLayers& layers = compiled_->nodes_[segment.node];
  const Rows sums = run_layers(layers.value, segment, first);
  const std::size_t hidden = layers.value.back().outputs();
  const float* follow = network_.parameters().values(network_.node(segment.node).follow);
  for (std::size_t c = 0; c < layers.components.size(); ++c, follow += hidden) {
    const std::size_t padded = layers.components[c].padded();
    input_.resize(std::max(input_.size(), segment.count * sums.stride));
    third_.resize(std::max(third_.size(), segment.count * padded));
    for (std::size_t j = 0; j < segment.count * sums.stride; ++j) {
      input_[j] = std::max(sums.data[j], 0.0f);
    }
    layers.components[c].apply(segment.count, input_.data(), sums.stride, third_.data(), padded);
    for (std::size_t i = 0; i < segment.count; ++i) {
      const float x = visit(order_[segment.first + i], c, &third_[i * padded]);
      for (std::size_t j = 0; j < hidden; ++j) sums.data[i * sums.stride + j] += x * follow[j];
    }
  }
}

void Executor::take(std::span<const Drawn> drawn) {
  group(drawn.size(), [&](std::size_t i) { return nodes_[drawn[i].row]; });
  for (const NodeSegment& segment : segments_) embed(drawn, segment);
}

void Executor::transition(std::span<const Drawn> drawn, const VisitLogits& visit) {
  group(drawn.size(), [&](std::size_t i) { return nodes_[drawn[i].row]; });
  for (const NodeSegment& segment : segments_) transition_heads(drawn, segment, visit);
}

std::size_t Executor::embed(std::span<const Drawn> drawn, const NodeSegment& segment) {
  const Node& node = network_.node(segment.node);
  const CompiledNetwork::NodeLayers& layers = compiled_->nodes_[segment.node];
  const std::size_t rows = segment.count, inputs = node.value.inputs();
  represented_.resize(rows * inputs);
  for (std::size_t i = 0; i < rows; ++i) {
    const Value& x = *drawn[order_[segment.first + i]].value;
    if (x.size() != node.value.components()) {
      throw ModelError(fmt::format("address '{}': a value of {} components, not {}", node.text,
                                   x.size(), node.value.components()));
    }
    represent(node.value, node.scaling, x, &represented_[i * inputs]);
  }
  // [h | c | e(x)], where the embedding is computed in place.
  const std::size_t before = h_ + recalled_.width(), width = before + layers.embedding.padded();
  input_.resize(std::max(input_.size(), rows * width));
  layers.embedding.apply(rows, represented_.data(), inputs, input_.data() + before, width);
  for (std::size_t i = 0; i < rows; ++i) {
    const Row row = drawn[order_[segment.first + i]].row;
    float* in = input_.data() + i * width;
    std::copy_n(core_->output(row), h_, in);
    if (recalled_.width() > 0) std::copy_n(recalled_.sum(row), recalled_.width(), in + h_);
    std::copy_n(in + before, e_, embedded(row));
  }
  if (recalled_.width() > 0) recall(drawn, segment);
  return width;
}

// The values are those in represented_.
void Executor::recall(std::span<const Drawn> drawn, const NodeSegment& segment) {
  const PackedMatrix& layer = compiled_->nodes_[segment.node].recall;
  const std::size_t padded = layer.padded();
  first_.resize(std::max(first_.size(), segment.count * padded));
  layer.apply(segment.count, represented_.data(), layer.inputs(), first_.data(), padded);
  for (std::size_t i = 0; i < segment.count; ++i) {
    recalled_.add(drawn[order_[segment.first + i]].row, segment.node, &first_[i * padded]);
  }
}

void Executor::transition_heads(std::span<const Drawn> drawn, const NodeSegment& segment,
                                const VisitLogits& visit) {
  const Node& node = network_.node(segment.node);
  const std::size_t rows = segment.count;
  if (segment.node == Network::kBegin) {
    const std::span<const float> logits(network_.parameters().values(node.transition),
                                        node.successors.size() + 1);
    for (std::size_t i = 0; i < rows; ++i) visit(order_[segment.first + i], logits);
    return;
  }
  const CompiledNetwork::NodeLayers& layers = compiled_->nodes_[segment.node];
  const std::size_t inputs = node.value.inputs(), width = embed(drawn, segment);
  // [hidden | x]: the padding of hidden is overwritten by x.
  const std::size_t t = layers.transition_hidden.outputs();
  const std::size_t joined = std::max(layers.transition_hidden.padded(), t + inputs);
  if (first_.size() < rows * joined) first_.resize(rows * joined);
  layers.transition_hidden.apply_relu(rows, input_.data(), width, first_.data(), joined);
  for (std::size_t i = 0; i < rows; ++i) {
    std::copy_n(&represented_[i * inputs], inputs, &first_[i * joined + t]);
  }
  const std::size_t padded = layers.transition.padded();
  if (second_.size() < rows * padded) second_.resize(rows * padded);
  layers.transition.apply(rows, first_.data(), joined, second_.data(), padded);
  if (tally_inputs_ > 0) {
    const auto drawn_at = [&](std::size_t i) { return drawn[order_[segment.first + i]]; };
    for (std::size_t i = 0; i < rows; ++i) {
      tallies_[drawn_at(i).row].add(node.tally_uses, *drawn_at(i).value);
    }
    gather_tallies(rows, [&](std::size_t i) { return drawn_at(i).row; });
    layers.transition_tally.add_to(rows, tallied_.data(), tally_inputs_, second_.data(), padded);
  }
  for (std::size_t i = 0; i < rows; ++i) {
    visit(order_[segment.first + i], {second_.data() + i * padded, layers.transition.outputs()});
  }
}

}  // namespace psn
