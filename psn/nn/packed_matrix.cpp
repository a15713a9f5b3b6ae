#include "psn/nn/packed_matrix.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "psn/nn/packed_matrix.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#ifndef PSN_NN_PACKED_MATRIX_TASK
#define PSN_NN_PACKED_MATRIX_TASK
namespace psn::nn {

// One panel of outputs for a block of rows, over a range of inputs.
struct PanelTask {
  std::size_t rows, inputs;
  const float* a;
  std::size_t lda;
  const float* panel;  // inputs x kPanel
  const float* bias;   // where the sums start; null: at what C holds
  float* c;
  std::size_t ldc;
  bool relu;
};

}  // namespace psn::nn
#endif

HWY_BEFORE_NAMESPACE();
namespace psn::nn {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Lanes = hn::CappedTag<float, PackedMatrix::kPanel>;
constexpr std::size_t kLanes = hn::MaxLanes(Lanes());
constexpr std::size_t kVectors = PackedMatrix::kPanel / kLanes;  // that make up a panel
// As many rows as leave registers for the panel and one input.
constexpr std::size_t kRows = kVectors == 1 ? 12 : kVectors == 2 ? 6 : kVectors == 4 ? 3 : 1;

template <std::size_t R>
HWY_INLINE void panel_rows(const PanelTask& t, std::size_t row) {
  const Lanes d;
  using V = hn::Vec<Lanes>;
  const float* a = t.a + row * t.lda;
  float* c = t.c + row * t.ldc;
  V sum[R][kVectors];
  for (std::size_t r = 0; r < R; ++r) {
    for (std::size_t v = 0; v < kVectors; ++v) {
      sum[r][v] = hn::LoadU(d, (t.bias ? t.bias : c + r * t.ldc) + v * kLanes);
    }
  }
  const float* w = t.panel;
  for (std::size_t k = 0; k < t.inputs; ++k, w += PackedMatrix::kPanel) {
    V weights[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) weights[v] = hn::LoadU(d, w + v * kLanes);
    for (std::size_t r = 0; r < R; ++r) {
      const V input = hn::Set(d, a[r * t.lda + k]);
      for (std::size_t v = 0; v < kVectors; ++v) {
        sum[r][v] = hn::MulAdd(input, weights[v], sum[r][v]);
      }
    }
  }
  for (std::size_t r = 0; r < R; ++r) {
    for (std::size_t v = 0; v < kVectors; ++v) {
      const V result = t.relu ? hn::Max(sum[r][v], hn::Zero(d)) : sum[r][v];
      hn::StoreU(result, d, c + r * t.ldc + v * kLanes);
    }
  }
}

template <std::size_t R>
void panel_rest(const PanelTask& t, std::size_t row) {
  if constexpr (R > 0) {
    if (t.rows - row == R) return panel_rows<R>(t, row);
    panel_rest<R - 1>(t, row);
  }
}

void Panel(const PanelTask& t) {
  std::size_t row = 0;
  for (; row + kRows <= t.rows; row += kRows) panel_rows<kRows>(t, row);
  panel_rest<kRows - 1>(t, row);
}

}  // namespace HWY_NAMESPACE
}  // namespace psn::nn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace psn::nn {

HWY_EXPORT(Panel);

namespace {

// Inputs at a time: a panel's part stays in the first-level cache while all rows pass.
constexpr std::size_t kInputs = 256;

void product(const std::vector<float>& panels, std::size_t inputs, std::size_t padded,
             std::size_t rows, const float* a, std::size_t lda, const float* bias, float* c,
             std::size_t ldc, bool relu) {
  if (rows == 0) return;
  const auto panel = HWY_DYNAMIC_DISPATCH(Panel);
  for (std::size_t first = 0; first == 0 || first < inputs; first += kInputs) {
    const std::size_t count = std::min(kInputs, inputs - first);
    const bool last = first + count == inputs;
    for (std::size_t j = 0; j < padded; j += PackedMatrix::kPanel) {
      panel({rows, count, a + first, lda, panels.data() + j * inputs + first * PackedMatrix::kPanel,
             bias && first == 0 ? bias + j : nullptr, c + j, ldc, relu && last});
    }
  }
}

}  // namespace

PackedMatrix::PackedMatrix(std::size_t outputs, std::size_t inputs, const float* weights,
                           std::size_t stride)
    : outputs_(outputs), inputs_(inputs), bias_(padded()), panels_(padded() * inputs) {
  for (std::size_t j = 0; j < outputs; ++j) {
    float* panel = panels_.data() + j / kPanel * kPanel * inputs + j % kPanel;
    for (std::size_t k = 0; k < inputs; ++k) panel[k * kPanel] = weights[j * stride + k];
  }
}

PackedMatrix PackedMatrix::with_bias(std::size_t outputs, std::size_t columns,
                                     const float* weights) {
  PackedMatrix result(outputs, columns - 1, weights, columns);
  for (std::size_t j = 0; j < outputs; ++j) {
    result.bias_[j] = weights[j * columns + columns - 1];
  }
  return result;
}

void PackedMatrix::apply(std::size_t rows, const float* a, std::size_t lda, float* c,
                         std::size_t ldc) const {
  product(panels_, inputs_, padded(), rows, a, lda, bias_.data(), c, ldc, false);
}

void PackedMatrix::apply_relu(std::size_t rows, const float* a, std::size_t lda, float* c,
                              std::size_t ldc) const {
  product(panels_, inputs_, padded(), rows, a, lda, bias_.data(), c, ldc, true);
}

void PackedMatrix::add_to(std::size_t rows, const float* a, std::size_t lda, float* c,
                          std::size_t ldc) const {
  product(panels_, inputs_, padded(), rows, a, lda, nullptr, c, ldc, false);
}

}  // namespace psn::nn
#endif
