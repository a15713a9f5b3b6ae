// A dense layer: a block of parameters whose last column is the bias.
#pragma once

#include <cstddef>

#include "psn/nn/parameters.h"

namespace psn {

// out = in W^T + bias; rows of `in` are ld_in apart, those of `out` as long as the layer is wide.
void apply_layer(const Parameters& parameters, BlockId layer, std::size_t rows, const float* in,
                 std::size_t ld_in, float* out);

}  // namespace psn
