#include "experiments/composite_cure/cure_rate.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "experiments/composite_cure/cure_rate.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace psn::composite_cure {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

void Rates(const Kinetics& k, std::size_t n, const double* temperature, const double* cure,
           double* rate, double* by_temperature, double* by_cure) {
  const hn::CappedTag<double, kPadding> d;
  const auto one = hn::Set(d, 1.0);
  const auto constant = [&](double x) { return hn::Set(d, x); };
  for (std::size_t i = 0; i < n; i += hn::Lanes(d)) {
    const auto t = hn::Add(hn::LoadU(d, temperature + i), constant(kKelvin));
    const auto a = hn::LoadU(d, cure + i);
    const auto rest = hn::Sub(one, a);
    // All powers in one exponential: exp(-E / RT + m log a + n log(1 - a)).
    const auto activation = hn::Div(constant(k.E / kGasConstant), t);
    auto exponent = hn::Sub(hn::Mul(constant(k.m), hn::Log(d, a)), activation);
    exponent = hn::MulAdd(constant(k.n), hn::Log(d, rest), exponent);
    // The approach to the glassy state, where diffusion is slower than the reaction.
    const auto glassy = hn::NegMulAdd(constant(k.aCT), t, hn::Sub(a, constant(k.aC0)));
    const auto e = hn::Exp(d, hn::Mul(constant(k.C), glassy));
    const auto free = hn::Div(one, hn::Add(one, e));
    const auto r = hn::Mul(hn::Mul(constant(k.A), hn::Exp(d, exponent)), free);
    // Logarithmic derivatives.
    const auto glass = hn::Mul(constant(k.C), hn::Mul(e, free));
    const auto log_by_t = hn::MulAdd(constant(k.aCT), glass, hn::Div(activation, t));
    const auto log_by_a =
        hn::Sub(hn::Sub(hn::Div(constant(k.m), a), hn::Div(constant(k.n), rest)), glass);
    hn::StoreU(r, d, rate + i);
    hn::StoreU(hn::Mul(r, log_by_t), d, by_temperature + i);
    hn::StoreU(hn::Mul(r, log_by_a), d, by_cure + i);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace psn::composite_cure
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace psn::composite_cure {

HWY_EXPORT(Rates);

void CureRates::resize(std::size_t n) {
  for (auto* values : {&rate, &by_temperature, &by_cure}) values->resize(padded(n));
}

void cure_rates(const Kinetics& kinetics, std::size_t n, const double* temperature,
                const double* cure, CureRates& rates) {
  HWY_DYNAMIC_DISPATCH(Rates)
  (kinetics, n, temperature, cure, rates.rate.data(), rates.by_temperature.data(),
   rates.by_cure.data());
}

}  // namespace psn::composite_cure
#endif
