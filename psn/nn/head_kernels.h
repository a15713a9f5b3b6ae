// Kernels of heads, one per family: what psn/nn/head.h promises for one component of a value.
// Internal to psn/nn.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "psn/base/numerics.h"
#include "psn/core/distribution.h"

namespace psn::head_kernels {

inline constexpr double kLargestExponent = 14;  // of scales and rates relative to their unit

// exp of an output, and its derivative with respect to it; bounded.
struct Link {
  double value, slope;
};

inline Link exponential(double o) {
  const double clamped = std::clamp(o, -kLargestExponent, kLargestExponent);
  const double e = std::exp(clamped);
  return {e, clamped == o ? e : 0};
}

inline double sigmoid(double o) {
  return o >= 0 ? 1 / (1 + std::exp(-o)) : std::exp(o) / (1 + std::exp(o));
}

// One component's unit: location and scale of its values.
struct Unit {
  double location, scale;
  double low, high;
};

// The mean of a positive family in natural units: never zero.
inline double positive_unit(const Unit& unit) {
  return std::max({std::abs(unit.location), unit.scale * 1e-3, 1e-30});
}

// A family's kernel for one component. Each has
//   kOutputs
//   parameters(o, unit) -> the family's parameters
//   statistics(x) -> T(x);  expected(p parameters) -> E_p[T], or nothing
//   loss(o, unit, T, gradient) -> -log s, with gradient for the outputs
template <std::size_t N>
using Array = std::array<double, N>;

struct NormalHead {
  static constexpr std::size_t kOutputs = 2;
  using Statistics = Array<2>;  // u, u^2 for x in its unit: far from zero, x^2 would lose it all
  static family::Normal::P parameters(const float* o, const Unit& u) {
    return {u.location + u.scale * o[0], u.scale * exponential(o[1]).value};
  }
  static Statistics statistics(double x, const Unit& u) {
    return moments((x - u.location) / u.scale, 0);
  }
  static Statistics expected(const family::Normal::P& p, const Unit& u) {
    return moments((p[0] - u.location) / u.scale, p[1] / u.scale);
  }
  static Statistics moments(double mean, double sd) { return {mean, mean * mean + sd * sd}; }
  static double loss(const float* o, const Unit& u, const Statistics& t, double* g) {
    const double mean = o[0], sd = exponential(o[1]).value;  // in units
    const double variance = sd * sd;
    const double second = t[1] - 2 * mean * t[0] + mean * mean;  // E (u - mean)^2
    g[0] = (mean - t[0]) / variance;
    g[1] = exponential(o[1]).slope > 0 ? 1 - second / variance : 0;
    return 0.5 * second / variance + std::log(sd * u.scale) + kLogSqrt2Pi;
  }
};

struct LogNormalHead {
  static constexpr std::size_t kOutputs = 2;
  using Statistics = Array<3>;  // those of log x, and log x itself for the Jacobian
  static family::LogNormal::P parameters(const float* o, const Unit& u) {
    return NormalHead::parameters(o, u);
  }
  static Statistics statistics(double x, const Unit& u) {
    const auto t = NormalHead::statistics(std::log(x), u);
    return {t[0], t[1], std::log(x)};
  }
  static Statistics expected(const family::LogNormal::P& p, const Unit& u) {
    const auto t = NormalHead::expected(p, u);
    return {t[0], t[1], p[0]};
  }
  static double loss(const float* o, const Unit& u, const Statistics& t, double* g) {
    return NormalHead::loss(o, u, {t[0], t[1]}, g) + t[2];
  }
};

struct PoissonHead {
  static constexpr std::size_t kOutputs = 1;
  using Statistics = Array<2>;  // x, log x!
  static family::Poisson::P parameters(const float* o, const Unit& u) {
    return {positive_unit(u) * exponential(o[0]).value};
  }
  static Statistics statistics(double x, const Unit&) { return {x, log_gamma(x + 1)}; }
  // E log x! has no closed form, but does not depend on the outputs: left out.
  static Statistics expected(const family::Poisson::P& p, const Unit&) { return {p[0], 0}; }
  static double loss(const float* o, const Unit& u, const Statistics& t, double* g) {
    const auto [rate] = parameters(o, u);
    g[0] = exponential(o[0]).slope > 0 ? rate - t[0] : 0;
    return rate - t[0] * std::log(rate) + t[1];
  }
};

struct BernoulliHead {
  static constexpr std::size_t kOutputs = 1;
  using Statistics = Array<1>;
  static family::Bernoulli::P parameters(const float* o, const Unit&) { return {sigmoid(o[0])}; }
  static Statistics statistics(double x, const Unit&) { return {x}; }
  static Statistics expected(const family::Bernoulli::P& p, const Unit&) { return {p[0]}; }
  static double loss(const float* o, const Unit&, const Statistics& t, double* g) {
    g[0] = sigmoid(o[0]) - t[0];
    const double positive = std::max<double>(o[0], 0);
    return positive - t[0] * o[0] + std::log1p(std::exp(-std::abs(o[0])));
  }
};

struct BetaHead {
  static constexpr std::size_t kOutputs = 2;
  using Statistics = Array<2>;  // log x, log(1 - x)
  static family::Beta::P parameters(const float* o, const Unit&) {
    return {exponential(o[0]).value, exponential(o[1]).value};
  }
  static Statistics statistics(double x, const Unit&) {
    constexpr double kEdge = 1e-300;
    return {std::log(std::max(x, kEdge)), std::log(std::max(1 - x, kEdge))};
  }
  static Statistics expected(const family::Beta::P& p, const Unit&) {
    const double total = digamma(p[0] + p[1]);
    return {digamma(p[0]) - total, digamma(p[1]) - total};
  }
  static double loss(const float* o, const Unit&, const Statistics& t, double* g) {
    const Link a = exponential(o[0]), b = exponential(o[1]);
    const double total = digamma(a.value + b.value);
    g[0] = (digamma(a.value) - total - t[0]) * a.slope;
    g[1] = (digamma(b.value) - total - t[1]) * b.slope;
    return log_beta(a.value, b.value) - (a.value - 1) * t[0] - (b.value - 1) * t[1];
  }
};

struct ExponentialHead {
  static constexpr std::size_t kOutputs = 1;
  using Statistics = Array<1>;
  static family::Exponential::P parameters(const float* o, const Unit& u) {
    return {exponential(o[0]).value / positive_unit(u)};
  }
  static Statistics statistics(double x, const Unit&) { return {x}; }
  static Statistics expected(const family::Exponential::P& p, const Unit&) { return {1 / p[0]}; }
  static double loss(const float* o, const Unit& u, const Statistics& t, double* g) {
    const auto [rate] = parameters(o, u);
    g[0] = exponential(o[0]).slope > 0 ? rate * t[0] - 1 : 0;
    return rate * t[0] - std::log(rate);
  }
};

// Outputs: log of the mean in units of its location, log of the concentration.
struct GammaHead {
  static constexpr std::size_t kOutputs = 2;
  using Statistics = Array<2>;  // x, log x
  static family::Gamma::P parameters(const float* o, const Unit& u) {
    const double concentration = exponential(o[1]).value;
    return {concentration, concentration / (positive_unit(u) * exponential(o[0]).value)};
  }
  static Statistics statistics(double x, const Unit&) { return {x, std::log(x)}; }
  static Statistics expected(const family::Gamma::P& p, const Unit&) {
    return {p[0] / p[1], digamma(p[0]) - std::log(p[1])};
  }
  static double loss(const float* o, const Unit& u, const Statistics& t, double* g) {
    const auto [a, rate] = parameters(o, u);
    const Link mean = exponential(o[0]), concentration = exponential(o[1]);
    // d rate / d o0 = -rate; d rate / d o1 = rate; d a / d o1 = a.
    const double by_rate = t[0] - a / rate;
    g[0] = mean.slope > 0 ? -rate * by_rate : 0;
    g[1] = concentration.slope > 0 ? rate * by_rate + a * (digamma(a) - std::log(rate) - t[1]) : 0;
    return rate * t[0] - (a - 1) * t[1] - a * std::log(rate) + log_gamma(a);
  }
};

struct BinomialHead {
  static constexpr std::size_t kOutputs = 1;
  using Statistics = Array<2>;  // x, log of the binomial coefficient
  static family::Binomial::P parameters(const float* o, const Unit& u) {
    return {u.high, sigmoid(o[0])};
  }
  static Statistics statistics(double x, const Unit& u) {
    return {x, log_gamma(u.high + 1) - log_gamma(x + 1) - log_gamma(u.high - x + 1)};
  }
  static Statistics expected(const family::Binomial::P& p, const Unit&) {
    return {p[0] * p[1], 0};  // the coefficient does not depend on the outputs
  }
  static double loss(const float* o, const Unit& u, const Statistics& t, double* g) {
    const double positive = std::max<double>(o[0], 0);
    g[0] = u.high * sigmoid(o[0]) - t[0];
    return u.high * (positive + std::log1p(std::exp(-std::abs(o[0])))) - t[0] * o[0] - t[1];
  }
};

// No sufficient statistics of fixed size: always the value drawn.
struct WeibullHead {
  static constexpr std::size_t kOutputs = 2;
  using Statistics = Array<1>;  // log x
  static family::Weibull::P parameters(const float* o, const Unit& u) {
    return {positive_unit(u) * exponential(o[0]).value, exponential(o[1]).value};
  }
  static Statistics statistics(double x, const Unit&) { return {std::log(x)}; }
  static double loss(const float* o, const Unit& u, const Statistics& t, double* g) {
    const auto [scale, k] = parameters(o, u);
    const double ratio = t[0] - std::log(scale);  // log(x / scale)
    const double power = std::exp(k * ratio);
    g[0] = exponential(o[0]).slope > 0 ? k * (1 - power) : 0;
    g[1] = exponential(o[1]).slope > 0 ? -1 - k * ratio + k * ratio * power : 0;
    return -std::log(k / scale) - (k - 1) * ratio + power;
  }
};

struct TruncatedNormalHead {
  static constexpr std::size_t kOutputs = 2;
  using Statistics = Array<2>;
  static family::TruncatedNormal::P parameters(const float* o, const Unit& u) {
    const auto normal = NormalHead::parameters(o, u);
    return {normal[0], normal[1], u.low, u.high};
  }
  static Statistics statistics(double x, const Unit& u) { return NormalHead::statistics(x, u); }
  static Statistics expected(const family::TruncatedNormal::P& p, const Unit& u) {
    return NormalHead::moments((family::TruncatedNormal::mean(p) - u.location) / u.scale,
                               std::sqrt(family::TruncatedNormal::variance(p)) / u.scale);
  }
  static double loss(const float* o, const Unit& u, const Statistics& t, double* g) {
    const auto p = parameters(o, u);
    // The normaliser's gradient is the expectation of the untruncated one's under s itself.
    const Statistics own = expected(p, u);
    double untruncated[2], self[2];
    const double nll = NormalHead::loss(o, u, t, untruncated);
    NormalHead::loss(o, u, own, self);
    for (int k = 0; k < 2; ++k) g[k] = untruncated[k] - self[k];
    return nll + log_normal_interval((p[2] - p[0]) / p[1], (p[3] - p[0]) / p[1]);
  }
};

// Uniform: the ends are known exactly if they never change. Otherwise the outputs are the ends as
// logistic positions within the widest range seen, learned by regression on the simulator's own;
// the distribution is widened a little and mixed with the whole range, so that a value just outside
// the prediction does not have probability zero.
struct UniformHead {
  static constexpr std::size_t kOutputs = 2;
  static constexpr double kWiden = 0.01, kWhole = 1e-3;
  static std::pair<double, double> ends(const float* o, const Unit& u) {
    const double a = u.low + (u.high - u.low) * sigmoid(o[0]);
    const double b = u.low + (u.high - u.low) * sigmoid(o[1]);
    const double width = std::max(std::abs(b - a), 1e-6 * (u.high - u.low));
    return {std::max(u.low, std::min(a, b) - kWiden * width),
            std::min(u.high, std::min(a, b) + width * (1 + kWiden))};
  }
  static double log_prob(const float* o, const Unit& u, double x) {
    const auto [a, b] = ends(o, u);
    const double whole = kWhole / (u.high - u.low);
    return std::log(whole + (x >= a && x <= b ? (1 - kWhole) / (b - a) : 0));
  }
  static double loss(const float* o, const Unit& u, double low, double high, double* g) {
    constexpr double kSteepness = 20;  // brings the squared error to the size of nats
    double loss = 0;
    const double targets[2] = {(low - u.low) / (u.high - u.low), (high - u.low) / (u.high - u.low)};
    for (int k = 0; k < 2; ++k) {
      const double p = sigmoid(o[k]);
      const double error = p - targets[k];
      loss += kSteepness * error * error;
      g[k] = 2 * kSteepness * error * p * (1 - p);
    }
    return loss;
  }
};

// Head and family of each alternative; what has no entry is treated apart.
template <class Visitor>
auto dispatch(Family family, Visitor visit) {
  switch (family) {
    case Family::kNormal:
      return visit.template operator()<NormalHead, Normal>();
    case Family::kLogNormal:
      return visit.template operator()<LogNormalHead, LogNormal>();
    case Family::kPoisson:
      return visit.template operator()<PoissonHead, Poisson>();
    case Family::kBernoulli:
      return visit.template operator()<BernoulliHead, Bernoulli>();
    case Family::kBeta:
      return visit.template operator()<BetaHead, Beta>();
    case Family::kExponential:
      return visit.template operator()<ExponentialHead, Exponential>();
    case Family::kGamma:
      return visit.template operator()<GammaHead, Gamma>();
    case Family::kBinomial:
      return visit.template operator()<BinomialHead, Binomial>();
    case Family::kWeibull:
      return visit.template operator()<WeibullHead, Weibull>();
    default:
      return visit.template operator()<TruncatedNormalHead, TruncatedNormal>();
  }
}

}  // namespace psn::head_kernels
