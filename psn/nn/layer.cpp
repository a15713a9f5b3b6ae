#include "psn/nn/layer.h"

#include <algorithm>

#include "psn/nn/math.h"

namespace psn {

void apply_layer(const Parameters& parameters, LayerRows layer, std::size_t rows, const float* in,
                 std::size_t ld_in, float* out) {
  if (rows == 0) return;
  const Block& block = parameters.block(layer.block);
  const float* weights = parameters.values(layer.block) + layer.first * block.columns;
  const std::size_t n = layer.count ? layer.count : block.rows, k = block.columns - 1;
  for (std::size_t j = 0; j < n; ++j) out[j] = weights[j * block.columns + k];
  for (std::size_t r = 1; r < rows; ++r) std::copy_n(out, n, out + r * n);
  nn::multiply_nt(rows, n, k, in, ld_in, weights, block.columns, 1, out, n);
}

void apply_layer_back(Parameters& parameters, LayerRows layer, std::size_t rows, const float* in,
                      std::size_t ld_in, const float* d_out, float* d_in, std::size_t ld_d_in,
                      std::size_t d_columns, float beta) {
  const Block& block = parameters.block(layer.block);
  const std::size_t n = layer.count ? layer.count : block.rows, k = block.columns - 1;
  float* gradient = parameters.gradients(layer.block) + layer.first * block.columns;
  nn::multiply_tn(n, k, rows, d_out, n, in, ld_in, 1, gradient, block.columns);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t j = 0; j < n; ++j) gradient[j * block.columns + k] += d_out[r * n + j];
  }
  if (!d_in) return;
  const float* weights = parameters.values(layer.block) + layer.first * block.columns;
  nn::multiply_nn(rows, d_columns, n, d_out, n, weights, block.columns, beta, d_in, ld_d_in);
}

}  // namespace psn
