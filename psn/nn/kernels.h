// Element-wise loops of training, compiled for several instruction sets (vectorize.h).
#pragma once

#include <cstddef>
#include <vector>

namespace psn::kernels {

// One row of an LSTM cell, backwards: activations become gradients of the pre-activations; d_cell
// is that of this step's cell on entry, and of the step before on return.
void lstm_gates_back(std::size_t h, float* gates, const float* cell_before, const float* cell_tanh,
                     const float* d_hidden, float* d_cell);
// y += x; y += a x; y = a + b.
void add(std::size_t n, const float* x, float* y);
void add_scaled(std::size_t n, float a, const float* x, float* y);
void sum_two(std::size_t n, const float* a, const float* b, float* y);
// In place; backwards, d becomes zero where the result y was.
void relu(std::size_t n, float* x);
void relu_back(std::size_t n, const float* y, float* d);
// log softmax of the target; turns logits into (softmax - indicator) * scale.
double softmax_loss(std::size_t n, std::size_t target, float scale, float* logits);

// Buffers are kept from batch to batch and only ever grow.
inline void reserve(std::vector<float>& buffer, std::size_t size) {
  if (buffer.size() < size) buffer.resize(size + size / 4);
}

}  // namespace psn::kernels
