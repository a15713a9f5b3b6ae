// Phi^-1 by Wichura's algorithm AS 241 (PPND16, 1988), relative error about 1e-15, for as many
// numbers at once as the machine's vector registers hold.
#include <cmath>

#include "psn/base/numerics.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "psn/base/normal_quantile.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace psn {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Coefficients by rising powers.
template <class D, class V>
HWY_INLINE V polynomial(D d, const double (&c)[8], V x) {
  V sum = hn::Set(d, c[7]);
  for (int i = 6; i >= 0; --i) sum = hn::MulAdd(sum, x, hn::Set(d, c[i]));
  return sum;
}

constexpr double kMiddleOver[8]{3.3871328727963666080e0,  1.3314166789178437745e+2,
                                1.9715909503065514427e+3, 1.3731693765509461125e+4,
                                4.5921953931549871457e+4, 6.7265770927008700853e+4,
                                3.3430575583588128105e+4, 2.5090809287301226727e+3};
constexpr double kMiddleUnder[8]{1.0,
                                 4.2313330701600911252e+1,
                                 6.8718700749205790830e+2,
                                 5.3941960214247511077e+3,
                                 2.1213794301586595867e+4,
                                 3.9307895800092710610e+4,
                                 2.8729085735721942674e+4,
                                 5.2264952788528545610e+3};
constexpr double kTailOver[8]{1.42343711074968357734e0,  4.63033784615654529590e0,
                              5.76949722146069140550e0,  3.64784832476320460504e0,
                              1.27045825245236838258e0,  2.41780725177450611770e-1,
                              2.27238449892691845833e-2, 7.74545014278341407640e-4};
constexpr double kTailUnder[8]{1.0,
                               2.05319162663775882187e0,
                               1.67638483018380384940e0,
                               6.89767334985100004550e-1,
                               1.48103976427480074590e-1,
                               1.51986665636164571966e-2,
                               5.47593808499534494600e-4,
                               1.05075007164441684324e-9};
constexpr double kFarOver[8]{6.65790464350110377720e0,  5.46378491116411436990e0,
                             1.78482653991729133580e0,  2.96560571828504891230e-1,
                             2.65321895265761230930e-2, 1.24266094738807843860e-3,
                             2.71155556874348757815e-5, 2.01033439929228813265e-7};
constexpr double kFarUnder[8]{1.0,
                              5.99832206555887937690e-1,
                              1.36929880922735805310e-1,
                              1.48753612908506148525e-2,
                              7.86869131145613259100e-4,
                              1.84631831751005468180e-5,
                              1.42151175831644588870e-7,
                              2.04426310338993978564e-15};

template <class D, class V>
HWY_INLINE V tail(D d, V p, V q) {
  const auto upper = hn::Gt(q, hn::Zero(d));
  const V outside = hn::IfThenElse(upper, hn::Sub(hn::Set(d, 1.0), p), p);
  const V r = hn::Sqrt(hn::Neg(hn::Log(d, outside)));
  const V near = hn::Sub(r, hn::Set(d, 1.6));
  V x = hn::Div(polynomial(d, kTailOver, near), polynomial(d, kTailUnder, near));
  const auto beyond = hn::Gt(r, hn::Set(d, 5.0));
  if (!hn::AllFalse(d, beyond)) {
    const V far = hn::Sub(r, hn::Set(d, 5.0));
    x = hn::IfThenElse(beyond, hn::Div(polynomial(d, kFarOver, far), polynomial(d, kFarUnder, far)),
                       x);
  }
  return hn::IfThenElse(upper, x, hn::Neg(x));
}

template <class D, class V>
HWY_INLINE V quantile(D d, V p) {
  const V q = hn::Sub(p, hn::Set(d, 0.5));
  const V r = hn::NegMulAdd(q, q, hn::Set(d, 0.180625));
  const V middle =
      hn::Mul(q, hn::Div(polynomial(d, kMiddleOver, r), polynomial(d, kMiddleUnder, r)));
  const auto in_tail = hn::Gt(hn::Abs(q), hn::Set(d, 0.425));
  return hn::AllFalse(d, in_tail) ? middle : hn::IfThenElse(in_tail, tail(d, p, q), middle);
}

void Quantiles(double* p, std::size_t n) {
  const hn::CappedTag<double, 8> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(quantile(d, hn::LoadU(d, p + i)), d, p + i);
  if (i == n) return;
  // The rest in a register of its own: a number's quantile does not depend on its neighbours.
  double rest[8];
  for (double& x : rest) x = 0.5;
  for (std::size_t k = i; k < n; ++k) rest[k - i] = p[k];
  hn::StoreU(quantile(d, hn::LoadU(d, rest)), d, rest);
  for (std::size_t k = i; k < n; ++k) p[k] = rest[k - i];
}

}  // namespace HWY_NAMESPACE
}  // namespace psn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace psn {

HWY_EXPORT(Quantiles);

void normal_quantiles(std::span<double> p) {
  HWY_DYNAMIC_DISPATCH(Quantiles)(p.data(), p.size());
}

double normal_quantile(double p) {
  HWY_DYNAMIC_DISPATCH(Quantiles)(&p, 1);
  return p;
}

}  // namespace psn
#endif
