// Heads by sufficient statistics:
//
//   -log s(x) = -eta(o) . T(x) + A(o)
//
// so that E_p[T] in the place of T(x) gives the cross entropy from p. Internal to psn/nn.
#pragma once

#include "psn/nn/heads/declared.h"

namespace psn::heads {

template <std::size_t N>
using Array = std::array<double, N>;

template <>
struct Head<family::Normal> : Declared<family::Normal> {
  using Statistics = Array<2>;  // u, u^2 for x in its unit: far from zero, x^2 would lose it all
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
using NormalHead = Head<family::Normal>;

template <>
struct Head<family::LogNormal> : Declared<family::LogNormal> {
  using Statistics = Array<3>;  // those of log x, and log x itself for the Jacobian
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

template <>
struct Head<family::Poisson> : Declared<family::Poisson> {
  using Statistics = Array<2>;  // x, log x!
  static Statistics statistics(double x, const Unit&) { return {x, log_gamma(x + 1)}; }
  // E log x! has no closed form, but does not depend on the outputs: left out.
  static Statistics expected(const family::Poisson::P& p, const Unit&) { return {p[0], 0}; }
  static double loss(const float* o, const Unit& u, const Statistics& t, double* g) {
    const auto [rate] = parameters(o, u);
    g[0] = exponential(o[0]).slope > 0 ? rate - t[0] : 0;
    return rate - t[0] * std::log(rate) + t[1];
  }
};

template <>
struct Head<family::Bernoulli> : Declared<family::Bernoulli> {
  using Statistics = Array<1>;
  static Statistics statistics(double x, const Unit&) { return {x}; }
  static Statistics expected(const family::Bernoulli::P& p, const Unit&) { return {p[0]}; }
  static double loss(const float* o, const Unit&, const Statistics& t, double* g) {
    g[0] = sigmoid(o[0]) - t[0];
    const double positive = std::max<double>(o[0], 0);
    return positive - t[0] * o[0] + std::log1p(std::exp(-std::abs(o[0])));
  }
};

template <>
struct Head<family::Beta> : Declared<family::Beta> {
  using Statistics = Array<2>;  // log x, log(1 - x)
  static Statistics statistics(double x, const Unit&) {
    constexpr double kEdge = 1e-300;
    return {std::log(std::max(x, kEdge)), std::log(std::max(1 - x, kEdge))};
  }
  static Statistics expected(const family::Beta::P& p, const Unit&) {
    const double total = digamma(p[0] + p[1]);
    return {digamma(p[0]) - total, digamma(p[1]) - total};
  }
  static double loss(const float* o, const Unit&, const Statistics& t, double* g) {
    const Linked a = exponential(o[0]), b = exponential(o[1]);
    const double total = digamma(a.value + b.value);
    g[0] = (digamma(a.value) - total - t[0]) * a.slope;
    g[1] = (digamma(b.value) - total - t[1]) * b.slope;
    return log_beta(a.value, b.value) - (a.value - 1) * t[0] - (b.value - 1) * t[1];
  }
};

template <>
struct Head<family::Exponential> : Declared<family::Exponential> {
  using Statistics = Array<1>;
  static Statistics statistics(double x, const Unit&) { return {x}; }
  static Statistics expected(const family::Exponential::P& p, const Unit&) { return {1 / p[0]}; }
  static double loss(const float* o, const Unit& u, const Statistics& t, double* g) {
    const auto [rate] = parameters(o, u);
    g[0] = exponential(o[0]).slope > 0 ? rate * t[0] - 1 : 0;
    return rate * t[0] - std::log(rate);
  }
};

// Outputs: log of the mean in units of its location, log of the concentration.
template <>
struct Head<family::Gamma> {
  static constexpr std::array<Parameter, 2> kOutputs{
      {{"mean", Link::kPositive, Role::kSize}, {"concentration", Link::kPositive, Role::kShape}}};
  using Statistics = Array<2>;  // x, log x
  static family::Gamma::P parameters(const float* o, const Unit& u) {
    const double concentration = exponential(o[1]).value;
    return {concentration, concentration / (size_of(u) * exponential(o[0]).value)};
  }
  static Statistics statistics(double x, const Unit&) { return {x, std::log(x)}; }
  static Statistics expected(const family::Gamma::P& p, const Unit&) {
    return {p[0] / p[1], digamma(p[0]) - std::log(p[1])};
  }
  static double loss(const float* o, const Unit& u, const Statistics& t, double* g) {
    const auto [a, rate] = parameters(o, u);
    const Linked mean = exponential(o[0]), concentration = exponential(o[1]);
    // d rate / d o0 = -rate; d rate / d o1 = rate; d a / d o1 = a.
    const double by_rate = t[0] - a / rate;
    g[0] = mean.slope > 0 ? -rate * by_rate : 0;
    g[1] = concentration.slope > 0 ? rate * by_rate + a * (digamma(a) - std::log(rate) - t[1]) : 0;
    return rate * t[0] - (a - 1) * t[1] - a * std::log(rate) + log_gamma(a);
  }
};

template <>
struct Head<family::Binomial> : Declared<family::Binomial> {
  using Statistics = Array<2>;  // x, log of the binomial coefficient
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
template <>
struct Head<family::Weibull> : Declared<family::Weibull> {
  using Statistics = Array<1>;  // log x
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

template <>
struct Head<family::TruncatedNormal> : Declared<family::TruncatedNormal> {
  using Statistics = Array<2>;
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

}  // namespace psn::heads
