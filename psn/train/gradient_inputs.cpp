// The inputs of the network's core, forward and back.
#include "psn/train/gradient.h"

#include <algorithm>
#include <cmath>

#include "psn/nn/kernels.h"
#include "psn/nn/math.h"

namespace psn {

using namespace kernels;

// The address and type parts of the core's inputs, for each node of the batch.
void Gradient::project_nodes(const Batch&) {
  const Parameters& p = network_.parameters();
  const auto& blocks = network_.projections();
  const std::size_t n = active_nodes_.size(), inputs = network_.core_inputs();
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
    nn::multiply_nt(n, inputs, k, in.data(), k, p.values(block), k, beta, out.data(), inputs);
  };
  reserve(previous_table_, n * inputs);
  reserve(current_table_, n * inputs);
  for (std::size_t i = 0; i < n; ++i) {
    std::copy_n(p.values(network_.core().input_bias()), inputs, &current_table_[i * inputs]);
  }
  project(blocks.previous_type, types_, 0, previous_table_);
  project(blocks.previous_address, addresses_, 1, previous_table_);
  project(blocks.current_type, types_, 1, current_table_);
  project(blocks.current_address, addresses_, 1, current_table_);
}

void Gradient::fill_core_inputs(const Batch& batch, std::size_t step) {
  const Parameters& p = network_.parameters();
  const std::size_t inputs = network_.core_inputs(), first = batch.first[step];
  const bool counted = network_.config().addressing != Addressing::kInstance;
  for (std::size_t b = 0; b < batch.width(step); ++b) {
    float* out = core_->inputs() + (first + b) * inputs;
    const std::uint32_t previous = step ? active_[batch.node[batch.first[step - 1] + b]] : 0;
    sum_two(inputs, &previous_table_[previous * inputs],
            &current_table_[active_[batch.node[first + b]] * inputs], out);
    const Address& address = *batch.entry[first + b]->address;
    if (counted) {
      add_scaled(inputs, instance_feature(address.instance),
                 p.values(network_.projections().instance), out);
    }
    if (network_.shares_indices()) {
      const float* weights = p.values(network_.projections().index);
      for (const float feature : index_features(address.variable->index)) {
        add_scaled(inputs, feature, weights, out);
        weights += inputs;
      }
    }
    if (network_.infers()) add(inputs, &observed_[b * network_.observation_outputs()], out);
  }
  add_tallies(batch, step);
}

// What was counted before a step is what was counted after the one before it.
void Gradient::add_tallies(const Batch& batch, std::size_t step) {
  const std::size_t inputs = network_.core_inputs(), n = network_.tally_inputs();
  if (n == 0) return;
  const float* weights = network_.parameters().values(network_.projections().tally);
  float* out = core_->inputs() + batch.first[step] * inputs;
  if (step > 0) {
    nn::multiply_nn(batch.width(step), inputs, n, &batch.tally[batch.first[step - 1] * n], n,
                    weights, inputs, 1, out, inputs);
    return;
  }
  for (std::size_t b = 0; b < batch.width(0); ++b, out += inputs) {
    for (std::size_t k = 0; k < n; ++k) {
      add_scaled(inputs, batch.first_tally[k], weights + k * inputs, out);
    }
  }
}

void Gradient::back_through_tallies(const Batch& batch) {
  const std::size_t inputs = network_.core_inputs(), n = network_.tally_inputs();
  if (n == 0) return;
  float* gradients = network_.parameters().gradients(network_.projections().tally);
  for (std::size_t step = 0; step < batch.steps(); ++step) {
    const float* d = core_->inputs() + batch.first[step] * inputs;
    if (step > 0) {
      nn::multiply_tn(n, inputs, batch.width(step), &batch.tally[batch.first[step - 1] * n], n, d,
                      inputs, 1, gradients, inputs);
      continue;
    }
    for (std::size_t b = 0; b < batch.width(0); ++b, d += inputs) {
      for (std::size_t k = 0; k < n; ++k) {
        add_scaled(inputs, batch.first_tally[k], d, gradients + k * inputs);
      }
    }
  }
  touched_.push_back(network_.projections().tally);
}

void Gradient::back_through_observations(const Batch& batch) {
  const std::size_t inputs = network_.core_inputs(), outputs = network_.observation_outputs();
  const std::size_t h = network_.hidden(), ld = head_width() + network_.embedding();
  std::fill(observed_.begin(), observed_.end(), 0.0f);
  for (std::size_t row = 0; row < batch.rows(); ++row) {
    add(inputs, &core_->inputs()[row * inputs], &observed_[batch.position[row] * outputs]);
  }
  for (std::size_t place = 0; place < batch.rows() && network_.context() > 0; ++place) {
    add(network_.context(), &d_head_input_[place * ld + h],
        &observed_[batch.position[batch.order[place]] * outputs + inputs]);
  }
  observations_.back(batch, observed_, touched_);
}

void Gradient::back_through_nodes(const Batch& batch) {
  Parameters& p = network_.parameters();
  const auto& blocks = network_.projections();
  const std::size_t n = active_nodes_.size(), inputs = network_.core_inputs();
  const bool counted = network_.config().addressing != Addressing::kInstance;
  std::vector<float>&d_previous = previous_table_, &d_current = current_table_;
  std::fill_n(d_previous.begin(), n * inputs, 0.0f);
  std::fill_n(d_current.begin(), n * inputs, 0.0f);
  for (std::size_t t = 0; t < batch.steps(); ++t) {
    for (std::size_t b = 0; b < batch.width(t); ++b) {
      const std::size_t row = batch.first[t] + b;
      const std::uint32_t previous = t ? active_[batch.node[batch.first[t - 1] + b]] : 0;
      const float* d = &core_->inputs()[row * inputs];
      add(inputs, d, &d_previous[previous * inputs]);
      add(inputs, d, &d_current[active_[batch.node[row]] * inputs]);
      const Address& address = *batch.entry[row]->address;
      if (counted) {
        add_scaled(inputs, instance_feature(address.instance), d, p.gradients(blocks.instance));
      }
      if (network_.shares_indices()) {
        float* gradients = p.gradients(blocks.index);
        for (const float feature : index_features(address.variable->index)) {
          add_scaled(inputs, feature, d, gradients);
          gradients += inputs;
        }
      }
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    add(inputs, &d_current[i * inputs], p.gradients(network_.core().input_bias()));
  }
  std::vector<float> d_embedding;
  const auto back = [&](BlockId from_previous, BlockId from_current, BlockId table,
                        const std::vector<float>& in, auto row_of) {
    const std::size_t k = p.block(table).columns;
    d_embedding.assign(n * k, 0.0f);
    for (const auto& [block, d] :
         {std::pair{from_previous, &d_previous}, {from_current, &d_current}}) {
      nn::multiply_tn(inputs, k, n, d->data(), inputs, in.data(), k, 1, p.gradients(block), k);
      nn::multiply_nn(n, k, inputs, d->data(), inputs, p.values(block), k, 1, d_embedding.data(),
                      k);
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
  if (network_.shares_indices()) touched_.push_back(blocks.index);
}

}  // namespace psn
