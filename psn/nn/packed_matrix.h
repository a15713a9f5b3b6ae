// PackedMatrix: a weight matrix laid out once for many products with batches of rows.
//
// Each output is summed over the inputs in one fixed order, so the bits of a row do not depend on
// how many other rows are computed with it: what a surrogate draws depends neither on W nor on how
// rows are grouped. (A general matrix product picks another order for another number of rows.)
//
// Immutable after construction; safe to use from several threads.
#pragma once

#include <cstddef>
#include <vector>

namespace psn::nn {

class PackedMatrix {
 public:
  static constexpr std::size_t kPanel = 16;  // outputs that are computed together

  PackedMatrix() = default;
  // `weights` is outputs x inputs with rows `stride` apart; no bias.
  PackedMatrix(std::size_t outputs, std::size_t inputs, const float* weights, std::size_t stride);
  // The last column of the outputs x columns matrix is the bias.
  static PackedMatrix with_bias(std::size_t outputs, std::size_t columns, const float* weights);

  std::size_t inputs() const { return inputs_; }
  std::size_t outputs() const { return outputs_; }
  // Length that an output row needs in memory: a product writes zeros or leftovers up to here.
  std::size_t padded() const { return padded(outputs_); }
  static std::size_t padded(std::size_t outputs) {
    return (outputs + kPanel - 1) / kPanel * kPanel;
  }

  // Length of rows in memory for `n` numbers: never a multiple of a kilobyte, since then rows would
  // push each other out of the cache.
  static std::size_t row_stride(std::size_t n) {
    return padded(n) % 256 == 0 ? padded(n) + kPanel : padded(n);
  }

  // C = A W^T + bias; rows of A and C are `lda` and `ldc` >= padded() apart.
  void apply(std::size_t rows, const float* a, std::size_t lda, float* c, std::size_t ldc) const;
  // The same, followed by max(0, .).
  void apply_relu(std::size_t rows, const float* a, std::size_t lda, float* c,
                  std::size_t ldc) const;
  // C += A W^T (no bias).
  void add_to(std::size_t rows, const float* a, std::size_t lda, float* c, std::size_t ldc) const;

 private:
  std::size_t outputs_ = 0, inputs_ = 0;
  std::vector<float> bias_;    // padded()
  std::vector<float> panels_;  // for each panel: inputs x kPanel
};

}  // namespace psn::nn
