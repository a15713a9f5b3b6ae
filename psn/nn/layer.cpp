#include "psn/nn/layer.h"

#include <algorithm>

#include "psn/nn/math.h"

namespace psn {

void apply_layer(const Parameters& parameters, BlockId layer, std::size_t rows, const float* in,
                 std::size_t ld_in, float* out) {
  const Block& block = parameters.block(layer);
  const float* weights = parameters.values(layer);
  const std::size_t n = block.rows, k = block.columns - 1;
  for (std::size_t j = 0; j < n; ++j) out[j] = weights[j * block.columns + k];
  for (std::size_t r = 1; r < rows; ++r) std::copy_n(out, n, out + r * n);
  nn::multiply_nt(rows, n, k, in, ld_in, weights, block.columns, 1, out, n);
}

}  // namespace psn
