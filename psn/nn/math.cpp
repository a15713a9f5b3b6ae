#include "psn/nn/math.h"

#include <dnnl.h>
#include <omp.h>

#include <algorithm>

#include "psn/base/signal_stack.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "psn/nn/math.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace psn::nn {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// exp(x) for x within +-80, to 2e-7 relative: 2^n times a polynomial in the rest.
template <class D, class V>
HWY_INLINE V exponential(D d, V x) {
  const auto n = hn::Round(hn::Mul(x, hn::Set(d, 1.44269504089f)));
  auto r = hn::NegMulAdd(n, hn::Set(d, 0.693359375f), x);  // ln 2 in two parts
  r = hn::NegMulAdd(n, hn::Set(d, -2.12194440e-4f), r);
  auto p = hn::Set(d, 1.0f / 720);
  for (const float c : {1.0f / 120, 1.0f / 24, 1.0f / 6, 0.5f, 1.0f, 1.0f}) {
    p = hn::MulAdd(p, r, hn::Set(d, c));
  }
  const hn::RebindToSigned<D> di;
  const auto exponent = hn::ShiftLeft<23>(hn::Add(hn::ConvertTo(di, n), hn::Set(di, 127)));
  return hn::Mul(p, hn::BitCast(d, exponent));
}

// 1 / (1 + exp(-x)); beyond +-40 it is 0 or 1 in floats.
template <class D, class V>
HWY_INLINE V sigmoid(D d, V x) {
  const V bounded = hn::Max(hn::Min(x, hn::Set(d, 40.0f)), hn::Set(d, -40.0f));
  const V one = hn::Set(d, 1.0f);
  return hn::Div(one, hn::Add(one, exponential(d, hn::Neg(bounded))));
}

// To 1e-7 absolute.
template <class D, class V>
HWY_INLINE V hyperbolic_tangent(D d, V x) {
  return hn::MulSub(hn::Set(d, 2.0f), sigmoid(d, hn::Add(x, x)), hn::Set(d, 1.0f));
}

// Loads and stores of the last lanes go through a mask.
template <class D>
struct FullAccess {
  D d;
  auto load(const float* p) const { return hn::LoadU(d, p); }
  template <class V>
  void store(V v, float* p) const {
    hn::StoreU(v, d, p);
  }
};

template <class D>
struct MaskedAccess {
  D d;
  hn::Mask<D> mask;
  auto load(const float* p) const { return hn::MaskedLoad(mask, d, p); }
  template <class V>
  void store(V v, float* p) const {
    hn::BlendedStore(v, mask, d, p);
  }
};

template <class Access>
HWY_INLINE void cell_lanes(const Access& at, std::size_t h, std::size_t j, float* gates,
                           float* cell, float* cell_tanh, float* hidden) {
  const auto d = at.d;
  const auto i = sigmoid(d, at.load(gates + j));
  const auto f = sigmoid(d, at.load(gates + h + j));
  const auto g = hyperbolic_tangent(d, at.load(gates + 2 * h + j));
  const auto o = sigmoid(d, at.load(gates + 3 * h + j));
  const auto c = hn::MulAdd(f, at.load(cell + j), hn::Mul(i, g));
  const auto t = hyperbolic_tangent(d, c);
  at.store(i, gates + j);
  at.store(f, gates + h + j);
  at.store(g, gates + 2 * h + j);
  at.store(o, gates + 3 * h + j);
  at.store(c, cell + j);
  at.store(t, cell_tanh + j);
  at.store(hn::Mul(o, t), hidden + j);
}

void LstmGates(std::size_t h, float* gates, float* cell, float* cell_tanh, float* hidden) {
  const hn::ScalableTag<float> d;
  using D = hn::ScalableTag<float>;
  std::size_t j = 0;
  for (; j + hn::Lanes(d) <= h; j += hn::Lanes(d)) {
    cell_lanes(FullAccess<D>{d}, h, j, gates, cell, cell_tanh, hidden);
  }
  if (j < h) {
    cell_lanes(MaskedAccess<D>{d, hn::FirstN(d, h - j)}, h, j, gates, cell, cell_tanh, hidden);
  }
}

template <class F>
HWY_INLINE void each_lane(std::size_t n, float* x, const F& f) {
  const hn::ScalableTag<float> d;
  using D = hn::ScalableTag<float>;
  std::size_t j = 0;
  for (; j + hn::Lanes(d) <= n; j += hn::Lanes(d)) hn::StoreU(f(d, hn::LoadU(d, x + j)), d, x + j);
  if (j == n) return;
  const MaskedAccess<D> rest{d, hn::FirstN(d, n - j)};
  rest.store(f(d, rest.load(x + j)), x + j);
}

void Sigmoid(std::size_t n, float* x) {
  each_lane(n, x, [](auto d, auto v) { return sigmoid(d, v); });
}

void HyperbolicTangent(std::size_t n, float* x) {
  each_lane(n, x, [](auto d, auto v) { return hyperbolic_tangent(d, v); });
}

// exp(x - largest), where what is below exp(-80) may be anything as small.
void Exponentials(std::size_t n, float* x, float largest) {
  each_lane(n, x, [largest](auto d, auto v) {
    return exponential(d, hn::Max(hn::Sub(v, hn::Set(d, largest)), hn::Set(d, -80.0f)));
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace psn::nn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace psn::nn {

HWY_EXPORT(LstmGates);
HWY_EXPORT(Sigmoid);
HWY_EXPORT(HyperbolicTangent);
HWY_EXPORT(Exponentials);

void lstm_gates(std::size_t h, float* gates, float* cell, float* cell_tanh, float* hidden) {
  HWY_DYNAMIC_DISPATCH(LstmGates)(h, gates, cell, cell_tanh, hidden);
}

void sigmoid(std::size_t n, float* x) {
  HWY_DYNAMIC_DISPATCH(Sigmoid)(n, x);
}

void hyperbolic_tangent(std::size_t n, float* x) {
  HWY_DYNAMIC_DISPATCH(HyperbolicTangent)(n, x);
}

void softmax(std::size_t n, float* x) {
  HWY_DYNAMIC_DISPATCH(Exponentials)(n, x, *std::max_element(x, x + n));
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += x[i];
  const auto factor = static_cast<float>(1 / sum);
  for (std::size_t i = 0; i < n; ++i) x[i] *= factor;
}

namespace {

// To this thread and to all that oneDNN will share its products with.
void provide_signal_stacks() {
  thread_local int provided = 0;
  const int threads = omp_get_max_threads();
  if (threads <= provided) return;
  provided = threads;
#pragma omp parallel num_threads(threads)
  { thread_local const SignalStack stack; }
}

void gemm(char ta, char tb, std::size_t m, std::size_t n, std::size_t k, const float* a,
          std::size_t lda, const float* b, std::size_t ldb, float beta, float* c, std::size_t ldc) {
  if (m == 0 || n == 0) return;
  provide_signal_stacks();
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

void use_one_thread_for_products() {
  omp_set_num_threads(1);
}

}  // namespace psn::nn
#endif
