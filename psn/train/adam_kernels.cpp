#include "psn/train/adam_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "psn/train/adam_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace psn::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Always in sixteen lanes, and in doubles, where the square of a float is exact: neither the order
// of the sum nor its rounding depends on the machine.
double SumOfSquares(std::size_t n, const float* x) {
  constexpr std::size_t kLanes = 16;
  const hn::CappedTag<double, kLanes> d;
  const hn::Rebind<float, decltype(d)> narrow;
  constexpr std::size_t kStep = hn::MaxLanes(d), kVectors = kLanes / kStep;
  hn::Vec<decltype(d)> sums[kVectors];
  for (auto& sum : sums) sum = hn::Zero(d);
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (std::size_t v = 0; v < kVectors; ++v) {
      const auto wide = hn::PromoteTo(d, hn::LoadU(narrow, x + i + v * kStep));
      sums[v] = hn::MulAdd(wide, wide, sums[v]);
    }
  }
  double lanes[kLanes], sum = 0;
  for (std::size_t v = 0; v < kVectors; ++v) hn::StoreU(sums[v], d, lanes + v * kStep);
  for (const double lane : lanes) sum += lane;
  for (; i < n; ++i) sum += double{x[i]} * x[i];
  return sum;
}

template <class D>
HWY_INLINE void step_lanes(D d, float* value, const float* gradient, float* first, float* second,
                           const AdamCoefficients& k) {
  const auto times = [&](float factor, auto v) { return hn::Mul(hn::Set(d, factor), v); };
  const auto g = times(k.clip, hn::LoadU(d, gradient));
  const auto m = hn::MulAdd(hn::Set(d, k.beta1), hn::LoadU(d, first), times(1 - k.beta1, g));
  const auto v =
      hn::MulAdd(hn::Set(d, k.beta2), hn::LoadU(d, second), hn::Mul(times(1 - k.beta2, g), g));
  const auto deviation = hn::Add(hn::Sqrt(times(k.correction2, v)), hn::Set(d, k.epsilon));
  hn::StoreU(m, d, first);
  hn::StoreU(v, d, second);
  hn::StoreU(hn::Sub(hn::LoadU(d, value), hn::Div(times(k.rate, m), deviation)), d, value);
}

void AdamStep(std::size_t n, float* value, const float* gradient, float* first, float* second,
              const AdamCoefficients& k) {
  const hn::ScalableTag<float> d;
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) {
    step_lanes(d, value + i, gradient + i, first + i, second + i, k);
  }
  for (; i < n; ++i) {
    step_lanes(hn::CappedTag<float, 1>(), value + i, gradient + i, first + i, second + i, k);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace psn::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace psn::kernels {

HWY_EXPORT(SumOfSquares);
HWY_EXPORT(AdamStep);

double sum_of_squares(std::size_t n, const float* x) {
  return HWY_DYNAMIC_DISPATCH(SumOfSquares)(n, x);
}

void adam_step(std::size_t n, float* value, const float* gradient, float* first, float* second,
               const AdamCoefficients& coefficients) {
  HWY_DYNAMIC_DISPATCH(AdamStep)(n, value, gradient, first, second, coefficients);
}

}  // namespace psn::kernels
#endif
