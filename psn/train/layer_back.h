// A dense layer (nn/layer.h), backwards.
#pragma once

#include "psn/nn/layer.h"

namespace psn {

// Adds to the layer's gradient. d_in (if not null) = d_out W + beta d_in, over the first
// `d_columns` columns of W.
void apply_layer_back(Parameters& parameters, BlockId layer, std::size_t rows, const float* in,
                      std::size_t ld_in, const float* d_out, float* d_in, std::size_t ld_d_in,
                      std::size_t d_columns, float beta);

}  // namespace psn
