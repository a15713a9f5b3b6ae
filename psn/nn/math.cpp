#include "psn/nn/math.h"

#include <dnnl.h>
#include <omp.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "psn/nn/math.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace psn::nn {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class D, class V>
V sigmoid(D d, V x) {
  const V half = hn::Set(d, 0.5f);
  return hn::MulAdd(half, hn::Tanh(d, hn::Mul(half, x)), half);
}

// Lanes past the end are computed on the tail of the row, once more: rows are at least one vector
// long, or go through scalars.
template <class D>
void cell_lanes(D d, std::size_t h, std::size_t j, float* gates, float* cell, float* cell_tanh,
                float* hidden) {
  const auto i = sigmoid(d, hn::LoadU(d, gates + j));
  const auto f = sigmoid(d, hn::LoadU(d, gates + h + j));
  const auto g = hn::Tanh(d, hn::LoadU(d, gates + 2 * h + j));
  const auto o = sigmoid(d, hn::LoadU(d, gates + 3 * h + j));
  const auto c = hn::MulAdd(f, hn::LoadU(d, cell + j), hn::Mul(i, g));
  const auto t = hn::Tanh(d, c);
  hn::StoreU(i, d, gates + j);
  hn::StoreU(f, d, gates + h + j);
  hn::StoreU(g, d, gates + 2 * h + j);
  hn::StoreU(o, d, gates + 3 * h + j);
  hn::StoreU(c, d, cell + j);
  hn::StoreU(t, d, cell_tanh + j);
  hn::StoreU(hn::Mul(o, t), d, hidden + j);
}

void LstmGates(std::size_t h, float* gates, float* cell, float* cell_tanh, float* hidden) {
  const hn::ScalableTag<float> d;
  std::size_t j = 0;
  for (; j + hn::Lanes(d) <= h; j += hn::Lanes(d)) {
    cell_lanes(d, h, j, gates, cell, cell_tanh, hidden);
  }
  const hn::CappedTag<float, 1> scalar;
  for (; j < h; ++j) cell_lanes(scalar, h, j, gates, cell, cell_tanh, hidden);
}

}  // namespace HWY_NAMESPACE
}  // namespace psn::nn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace psn::nn {

HWY_EXPORT(LstmGates);

void lstm_gates(std::size_t h, float* gates, float* cell, float* cell_tanh, float* hidden) {
  HWY_DYNAMIC_DISPATCH(LstmGates)(h, gates, cell, cell_tanh, hidden);
}

namespace {

void gemm(char ta, char tb, std::size_t m, std::size_t n, std::size_t k, const float* a,
          std::size_t lda, const float* b, std::size_t ldb, float beta, float* c,
          std::size_t ldc) {
  if (m == 0 || n == 0) return;
  dnnl_sgemm(ta, tb, static_cast<dnnl_dim_t>(m), static_cast<dnnl_dim_t>(n),
             static_cast<dnnl_dim_t>(k), 1.0f, a, static_cast<dnnl_dim_t>(lda), b,
             static_cast<dnnl_dim_t>(ldb), beta, c, static_cast<dnnl_dim_t>(ldc));
}

}  // namespace

void multiply_nt(std::size_t m, std::size_t n, std::size_t k, const float* a, std::size_t lda,
                 const float* b, std::size_t ldb, float beta, float* c, std::size_t ldc) {
  gemm('N', 'T', m, n, k, a, lda, b, ldb, beta, c, ldc);
}

void multiply_nn(std::size_t m, std::size_t n, std::size_t k, const float* a, std::size_t lda,
                 const float* b, std::size_t ldb, float beta, float* c, std::size_t ldc) {
  gemm('N', 'N', m, n, k, a, lda, b, ldb, beta, c, ldc);
}

void multiply_tn(std::size_t m, std::size_t n, std::size_t k, const float* a, std::size_t lda,
                 const float* b, std::size_t ldb, float beta, float* c, std::size_t ldc) {
  gemm('T', 'N', m, n, k, a, lda, b, ldb, beta, c, ldc);
}

void use_one_thread_for_products() { omp_set_num_threads(1); }

}  // namespace psn::nn
#endif
