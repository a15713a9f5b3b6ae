// The few dense operations that networks here are made of: matrix products (oneDNN), and
// gates and softmaxes (Google Highway, for the best instructions the machine has). Row-major
// floats.
#pragma once

#include <cstddef>

namespace psn::nn {

// C = A B^T + beta C;  A is m x k, B is n x k, C is m x n; ld* are row lengths in memory.
void multiply_nt(std::size_t m, std::size_t n, std::size_t k, const float* a, std::size_t lda,
                 const float* b, std::size_t ldb, float beta, float* c, std::size_t ldc);
// C = A B + beta C;  A is m x k, B is k x n.
void multiply_nn(std::size_t m, std::size_t n, std::size_t k, const float* a, std::size_t lda,
                 const float* b, std::size_t ldb, float beta, float* c, std::size_t ldc);
// C = A^T B + beta C;  A is k x m, B is k x n.
void multiply_tn(std::size_t m, std::size_t n, std::size_t k, const float* a, std::size_t lda,
                 const float* b, std::size_t ldb, float beta, float* c, std::size_t ldc);

// One row of an LSTM cell. `gates` holds the four pre-activations (input, forget, candidate,
// output; `h` numbers each) and receives their activations; cell is read and overwritten; cell_tanh
// and hidden are written.
void lstm_gates(std::size_t h, float* gates, float* cell, float* cell_tanh, float* hidden);

// x = f(x), in place, for n numbers.
void sigmoid(std::size_t n, float* x);
void hyperbolic_tangent(std::size_t n, float* x);
// Turns logits into probabilities. n > 0.
void softmax(std::size_t n, float* x);

// Matrix products on this thread use this thread only: parallelism is across threads.
void use_one_thread_for_products();

}  // namespace psn::nn
