// A dense layer: a block of parameters whose last column is the bias.
#pragma once

#include <cstddef>

#include "psn/nn/parameters.h"

namespace psn {

// A layer, or some of its outputs.
struct LayerRows {
  LayerRows(BlockId whole) : block(whole) {}
  LayerRows(BlockId layer, std::size_t from, std::size_t outputs)
      : block(layer), first(from), count(outputs) {}

  BlockId block;
  std::size_t first = 0, count = 0;  // count 0: all
};

// out = in W^T + bias; rows of `in` are ld_in apart, those of `out` as long as the layer is wide.
void apply_layer(const Parameters& parameters, LayerRows layer, std::size_t rows, const float* in,
                 std::size_t ld_in, float* out);

// Backwards: adds to the layer's gradient. d_in (if not null) = d_out W + beta d_in, over the first
// `d_columns` columns of W.
void apply_layer_back(Parameters& parameters, LayerRows layer, std::size_t rows, const float* in,
                      std::size_t ld_in, const float* d_out, float* d_in, std::size_t ld_d_in,
                      std::size_t d_columns, float beta);

}  // namespace psn
