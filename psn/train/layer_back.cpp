#include "psn/train/layer_back.h"

#include "psn/nn/math.h"

namespace psn {

void apply_layer_back(Parameters& parameters, BlockId layer, std::size_t rows, const float* in,
                      std::size_t ld_in, const float* d_out, float* d_in, std::size_t ld_d_in,
                      std::size_t d_columns, float beta) {
  const Block& block = parameters.block(layer);
  const std::size_t n = block.rows, k = block.columns - 1;
  float* gradient = parameters.gradients(layer);
  nn::multiply_tn(n, k, rows, d_out, n, in, ld_in, 1, gradient, block.columns);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t j = 0; j < n; ++j) gradient[j * block.columns + k] += d_out[r * n + j];
  }
  if (!d_in) return;
  nn::multiply_nn(rows, d_columns, n, d_out, n, parameters.values(layer), block.columns, beta, d_in,
                  ld_d_in);
}

}  // namespace psn
