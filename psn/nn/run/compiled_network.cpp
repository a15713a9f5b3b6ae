#include "psn/nn/run/compiled_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "psn/base/error.h"

namespace psn {

using nn::PackedMatrix;

namespace {

PackedMatrix pack(const Parameters& parameters, BlockId id) {
  const Block& block = parameters.block(id);
  return PackedMatrix::with_bias(block.rows, block.columns, parameters.values(id));
}

// A layer as several, each with as many of its outputs.
std::vector<PackedMatrix> pack_rows(const Parameters& parameters, BlockId id, std::size_t count) {
  const Block& block = parameters.block(id);
  const std::size_t rows = block.rows / count;
  std::vector<PackedMatrix> result;
  for (std::size_t i = 0; i < count; ++i) {
    result.push_back(PackedMatrix::with_bias(rows, block.columns,
                                             parameters.values(id) + i * rows * block.columns));
  }
  return result;
}

// out += W x
void add_product(const Parameters& parameters, BlockId id, const float* x, float* out) {
  const Block& block = parameters.block(id);
  const float* w = parameters.values(id);
  for (std::uint32_t i = 0; i < block.rows; ++i, w += block.columns) {
    double sum = 0;
    for (std::uint32_t j = 0; j < block.columns; ++j) sum += double{w[j]} * x[j];
    out[i] += static_cast<float>(sum);
  }
}

const float* table_row(const Parameters& parameters, BlockId id, std::size_t row) {
  return parameters.values(id) + row * parameters.block(id).columns;
}

bool all_finite(const Parameters& parameters, BlockId id) {
  const Block& block = parameters.block(id);
  const float* values = parameters.values(id);
  return std::all_of(values, values + std::size_t{block.rows} * block.columns,
                     [](float v) { return std::isfinite(v); });
}

}  // namespace

CompiledNetwork::CompiledNetwork(std::shared_ptr<const Network> network)
    : network_(std::move(network)) {
  check_finite();
  const Parameters& parameters = network_->parameters();
  core_ = network_->core().compile(parameters);
  make_tables();
  nodes_.resize(network_->size());
  for (NodeId id = 0; id < network_->size(); ++id) {
    if (id == Network::kBegin || id == Network::kEnd) continue;
    const Node& node = network_->node(id);
    if (network_->is_observation(id)) continue;
    NodeLayers& layers = nodes_[id];
    layers.embedding = pack(parameters, node.embedding);
    if (network_->recalls()) layers.recall = pack(parameters, node.recall);
    if (!network_->infers()) {
      layers.transition_hidden = pack(parameters, node.transition_hidden);
      layers.transition = pack(parameters, node.transition);
      if (network_->tally_inputs() > 0) {
        const Block& block = parameters.block(node.transition_tally);
        layers.transition_tally = PackedMatrix(
            block.rows, block.columns, parameters.values(node.transition_tally), block.columns);
      }
    }
    for (const BlockId block : node.value_layers) layers.value.push_back(pack(parameters, block));
    if (node.proposal.sequential) {
      layers.value.pop_back();
      layers.components = pack_rows(parameters, node.value_layers.back(), node.proposal.size);
    }
  }
}

void CompiledNetwork::check_finite() const {
  const Parameters& parameters = network_->parameters();
  for (BlockId block = 0; block < parameters.block_count(); ++block) {
    if (all_finite(parameters, block)) continue;
    for (NodeId id = Network::kEnd + 1; id < network_->size(); ++id) {
      const Node& node = network_->node(id);
      const auto among = [&](const std::vector<BlockId>& layers) {
        return std::find(layers.begin(), layers.end(), block) != layers.end();
      };
      if (block == node.embedding || block == node.recall || block == node.follow ||
          block == node.transition || block == node.transition_hidden ||
          block == node.transition_tally || block == node.observation_skip ||
          block == node.observation_projection || among(node.value_layers) ||
          among(node.observation_layers)) {
        throw ModelError(
            fmt::format("the network's parameters of '{}' are not all finite", node.text));
      }
    }
    throw ModelError("the parameters of the network's core are not all finite");
  }
}

void CompiledNetwork::make_tables() {
  const Parameters& parameters = network_->parameters();
  const auto& projections = network_->projections();
  const std::size_t inputs = network_->core_inputs();
  table_stride_ = PackedMatrix::row_stride(inputs);
  previous_.assign(network_->size() * table_stride_, 0.0f);
  current_.assign(network_->size() * table_stride_, 0.0f);
  for (NodeId id = 0; id < network_->size(); ++id) {
    const float* type =
        table_row(parameters, network_->type_embedding(), network_->node(id).type_row);
    const float* address = table_row(parameters, network_->address_embedding(), id);
    float* previous = previous_.data() + id * table_stride_;
    float* current = current_.data() + id * table_stride_;
    std::copy_n(parameters.values(network_->core().input_bias()), inputs, current);
    add_product(parameters, projections.previous_type, type, previous);
    add_product(parameters, projections.previous_address, address, previous);
    add_product(parameters, projections.current_type, type, current);
    add_product(parameters, projections.current_address, address, current);
  }
  const auto copy = [&](BlockId block, std::vector<float>& weights) {
    const Block& size = parameters.block(block);
    weights.assign(parameters.values(block),
                   parameters.values(block) + std::size_t{size.rows} * size.columns);
  };
  if (network_->config().addressing != Addressing::kInstance) copy(projections.instance, instance_);
  if (network_->shares_indices()) copy(projections.index, index_);
  const std::size_t tallied = network_->tally_inputs();
  if (tallied == 0) return;
  const float* weights = parameters.values(projections.tally);
  std::vector<float> transposed(inputs * tallied);
  for (std::size_t i = 0; i < inputs; ++i) {
    for (std::size_t k = 0; k < tallied; ++k) transposed[i * tallied + k] = weights[k * inputs + i];
  }
  tally_ = PackedMatrix(inputs, tallied, transposed.data(), tallied);
}

}  // namespace psn
