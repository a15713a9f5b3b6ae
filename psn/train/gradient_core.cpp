// The core of the network, forward and back through time.
#include "psn/train/gradient.h"

#include <algorithm>
#include <cmath>

#include "psn/nn/math.h"
#include "psn/train/kernels.h"

namespace psn {

using namespace kernels;

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
  const bool counted = network_.config().addressing != Addressing::kInstance;
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
          const Address& address = *batch.entry[row]->address;
          if (counted) {
            add_scaled(gates, instance_feature(address.instance),
                       p.values(network_.projections().instance), gate);
          }
          if (network_.shares_indices()) {
            const float* weights = p.values(network_.projections().index);
            for (const float feature : index_features(address.variable->index)) {
              add_scaled(gates, feature, weights, gate);
              weights += gates;
            }
          }
          if (network_.infers()) add(gates, &observed_[b * gates], gate);
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

void Gradient::back_through_observations(const Batch& batch) {
  const std::size_t gates = network_.gates();
  std::fill(observed_.begin(), observed_.end(), 0.0f);
  for (std::size_t row = 0; row < batch.rows(); ++row) {
    add(gates, &layers_[0].gates[row * gates], &observed_[batch.position[row] * gates]);
  }
  observations_.back(batch, observed_, touched_);
}

void Gradient::back_through_nodes(const Batch& batch) {
  Parameters& p = network_.parameters();
  const auto& blocks = network_.projections();
  const std::size_t n = active_nodes_.size(), gates = network_.gates();
  const bool counted = network_.config().addressing != Addressing::kInstance;
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
      const Address& address = *batch.entry[row]->address;
      if (counted) {
        add_scaled(gates, instance_feature(address.instance), d, p.gradients(blocks.instance));
      }
      if (network_.shares_indices()) {
        float* gradients = p.gradients(blocks.index);
        for (const float feature : index_features(address.variable->index)) {
          add_scaled(gates, feature, d, gradients);
          gradients += gates;
        }
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
  if (network_.shares_indices()) touched_.push_back(blocks.index);
}

}  // namespace psn
