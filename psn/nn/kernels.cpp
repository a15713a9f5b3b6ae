#include "psn/nn/kernels.h"

#include <algorithm>
#include <cmath>

#include "psn/base/vectorize.h"

namespace psn::kernels {

PSN_VECTORIZE void lstm_gates_back(std::size_t h, float* __restrict gates,
                                   const float* __restrict cell_before,
                                   const float* __restrict cell_tanh,
                                   const float* __restrict d_hidden, float* __restrict d_cell) {
  float *i = gates, *f = gates + h, *g = gates + 2 * h, *o = gates + 3 * h;
  for (std::size_t j = 0; j < h; ++j) {
    const float in = i[j], forget = f[j], candidate = g[j], out = o[j], t = cell_tanh[j];
    const float d = d_cell[j] + d_hidden[j] * out * (1 - t * t);
    o[j] = d_hidden[j] * t * out * (1 - out);
    i[j] = d * candidate * in * (1 - in);
    g[j] = d * in * (1 - candidate * candidate);
    f[j] = d * cell_before[j] * forget * (1 - forget);
    d_cell[j] = d * forget;
  }
}

PSN_VECTORIZE void add(std::size_t n, const float* __restrict x, float* __restrict y) {
  for (std::size_t i = 0; i < n; ++i) y[i] += x[i];
}

PSN_VECTORIZE void add_scaled(std::size_t n, float a, const float* __restrict x,
                              float* __restrict y) {
  for (std::size_t i = 0; i < n; ++i) y[i] += a * x[i];
}

PSN_VECTORIZE void sum_two(std::size_t n, const float* __restrict a, const float* __restrict b,
                           float* __restrict y) {
  for (std::size_t i = 0; i < n; ++i) y[i] = a[i] + b[i];
}

PSN_VECTORIZE void relu(std::size_t n, float* x) {
  for (std::size_t i = 0; i < n; ++i) x[i] = x[i] > 0 ? x[i] : 0;
}

PSN_VECTORIZE void relu_back(std::size_t n, const float* __restrict y, float* __restrict d) {
  for (std::size_t i = 0; i < n; ++i) d[i] = y[i] > 0 ? d[i] : 0;
}

double softmax_loss(std::size_t n, std::size_t target, float scale, float* logits) {
  float largest = logits[0];
  for (std::size_t i = 1; i < n; ++i) largest = std::max(largest, logits[i]);
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += std::exp(double{logits[i]} - largest);
  const double log_prob = double{logits[target]} - largest - std::log(sum);
  for (std::size_t i = 0; i < n; ++i) {
    const double p = std::exp(double{logits[i]} - largest) / sum;
    logits[i] = static_cast<float>(p - (i == target)) * scale;
  }
  return log_prob;
}

}  // namespace psn::kernels
