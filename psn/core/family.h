// The families of distributions with independent components, one kernel each.
//
// A kernel is the scalar law: parameter names, what is wrong with given parameters, draw, log
// density, mean, variance, support, and the closed-form KL divergence where there is one.
// `Independent<Kernel>` lifts it to any shape by broadcasting its parameters. Everything else that
// depends on the family (names, arity, dispatch) is derived from these kernels.
//
// The second parameter of Normal is the standard deviation, here and everywhere.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>

#include "psn/base/numerics.h"
#include "psn/base/rng.h"

namespace psn {

// Where a scalar component may lie; both ends inclusive for discrete families.
struct Support {
  double low = -kInfinity;
  double high = kInfinity;
  bool discrete = false;
};

namespace family {

template <std::size_t N>
using Parameters = std::array<double, N>;

// Draws on the positive half-line stay off its ends, where densities may be infinite.
inline double inside_positive(double x) {
  return std::clamp(x, std::numeric_limits<double>::min(), std::numeric_limits<double>::max());
}

// Each kernel: kName, kParameters (their names), problem(p) -> what is wrong or nullptr, draw,
// log_prob, mean, variance, support, kl(p, q) (nullopt: no closed form).
struct Normal {
  static constexpr std::string_view kName = "Normal";
  static constexpr std::array<std::string_view, 2> kParameters{"mean", "stddev"};
  using P = Parameters<2>;
  static const char* problem(const P& p) {
    if (!std::isfinite(p[0])) return "mean must be finite";
    return p[1] > 0 && std::isfinite(p[1]) ? nullptr : "stddev must be positive and finite";
  }
  static double draw(const P& p, Rng& rng) { return p[0] + p[1] * rng.normal(); }
  static double log_prob(const P& p, double x) {
    const double z = (x - p[0]) / p[1];
    return -0.5 * z * z - std::log(p[1]) - kLogSqrt2Pi;
  }
  static double mean(const P& p) { return p[0]; }
  static double variance(const P& p) { return p[1] * p[1]; }
  static Support support(const P&) { return {}; }
  static std::optional<double> kl(const P& p, const P& q) {
    const double r = p[1] / q[1];
    const double z = (p[0] - q[0]) / q[1];
    return 0.5 * (r * r + z * z - 1) - std::log(r);
  }
};

struct Uniform {
  static constexpr std::string_view kName = "Uniform";
  static constexpr std::array<std::string_view, 2> kParameters{"low", "high"};
  using P = Parameters<2>;
  static const char* problem(const P& p) {
    if (!std::isfinite(p[0]) || !std::isfinite(p[1])) return "low and high must be finite";
    if (!std::isfinite(p[1] - p[0])) return "high - low must be finite";
    return p[0] < p[1] ? nullptr : "low must be less than high";
  }
  static double draw(const P& p, Rng& rng) { return p[0] + (p[1] - p[0]) * rng.uniform(); }
  static double log_prob(const P& p, double x) {
    return x >= p[0] && x <= p[1] ? -std::log(p[1] - p[0]) : -kInfinity;
  }
  static double mean(const P& p) { return 0.5 * (p[0] + p[1]); }
  static double variance(const P& p) { return (p[1] - p[0]) * (p[1] - p[0]) / 12; }
  static Support support(const P& p) { return {p[0], p[1]}; }
  static std::optional<double> kl(const P& p, const P& q) {
    if (p[0] < q[0] || p[1] > q[1]) return kInfinity;
    return std::log((q[1] - q[0]) / (p[1] - p[0]));
  }
};

struct Poisson {
  static constexpr std::string_view kName = "Poisson";
  static constexpr std::array<std::string_view, 1> kParameters{"rate"};
  using P = Parameters<1>;
  static const char* problem(const P& p) {
    return p[0] > 0 && std::isfinite(p[0]) ? nullptr : "rate must be positive and finite";
  }
  static double draw(const P& p, Rng& rng);
  static double log_prob(const P& p, double x) {
    if (x < 0 || x != std::floor(x)) return -kInfinity;
    if (x == 0) return -p[0];
    return -stirling_error(x) - deviance(x, p[0]) - kLogSqrt2Pi - 0.5 * std::log(x);
  }
  static double mean(const P& p) { return p[0]; }
  static double variance(const P& p) { return p[0]; }
  static Support support(const P&) { return {0, kInfinity, true}; }
  static std::optional<double> kl(const P& p, const P& q) {
    return p[0] * std::log(p[0] / q[0]) - p[0] + q[0];
  }
};

struct Bernoulli {
  static constexpr std::string_view kName = "Bernoulli";
  static constexpr std::array<std::string_view, 1> kParameters{"probs"};
  using P = Parameters<1>;
  static const char* problem(const P& p) {
    return p[0] >= 0 && p[0] <= 1 ? nullptr : "probs must lie in [0, 1]";
  }
  static double draw(const P& p, Rng& rng) { return rng.uniform() < p[0] ? 1 : 0; }
  static double log_prob(const P& p, double x) {
    if (x == 1) return std::log(p[0]);
    return x == 0 ? std::log1p(-p[0]) : -kInfinity;
  }
  static double mean(const P& p) { return p[0]; }
  static double variance(const P& p) { return p[0] * (1 - p[0]); }
  static Support support(const P&) { return {0, 1, true}; }
  static std::optional<double> kl(const P& p, const P& q) {
    return x_log_y(p[0], p[0] / q[0]) + x_log_y(1 - p[0], (1 - p[0]) / (1 - q[0]));
  }
};

struct Beta {
  static constexpr std::string_view kName = "Beta";
  static constexpr std::array<std::string_view, 2> kParameters{"concentration1", "concentration0"};
  using P = Parameters<2>;
  static const char* problem(const P& p) {
    return p[0] > 0 && p[1] > 0 && std::isfinite(p[0] + p[1])
               ? nullptr
               : "concentrations must be positive and finite";
  }
  static double draw(const P& p, Rng& rng);
  static double log_prob(const P& p, double x) {
    if (!(x >= 0 && x <= 1)) return -kInfinity;
    return x_log_y(p[0] - 1, x) + x_log_y(p[1] - 1, 1 - x) - log_beta(p[0], p[1]);
  }
  static double mean(const P& p) { return p[0] / (p[0] + p[1]); }
  static double variance(const P& p) {
    const double s = p[0] + p[1];
    return p[0] * p[1] / (s * s * (s + 1));
  }
  static Support support(const P&) { return {0, 1}; }
  static std::optional<double> kl(const P& p, const P& q) {
    return log_beta(q[0], q[1]) - log_beta(p[0], p[1]) + (p[0] - q[0]) * digamma(p[0]) +
           (p[1] - q[1]) * digamma(p[1]) + (q[0] - p[0] + q[1] - p[1]) * digamma(p[0] + p[1]);
  }
};

struct Exponential {
  static constexpr std::string_view kName = "Exponential";
  static constexpr std::array<std::string_view, 1> kParameters{"rate"};
  using P = Parameters<1>;
  static const char* problem(const P& p) {
    return p[0] > 0 && std::isfinite(p[0]) ? nullptr : "rate must be positive and finite";
  }
  static double draw(const P& p, Rng& rng) { return rng.exponential() / p[0]; }
  static double log_prob(const P& p, double x) {
    return x >= 0 ? std::log(p[0]) - p[0] * x : -kInfinity;
  }
  static double mean(const P& p) { return 1 / p[0]; }
  static double variance(const P& p) { return 1 / (p[0] * p[0]); }
  static Support support(const P&) { return {0, kInfinity}; }
  static std::optional<double> kl(const P& p, const P& q) {
    return std::log(p[0] / q[0]) + q[0] / p[0] - 1;
  }
};

struct Gamma {
  static constexpr std::string_view kName = "Gamma";
  static constexpr std::array<std::string_view, 2> kParameters{"concentration", "rate"};
  using P = Parameters<2>;
  static const char* problem(const P& p) {
    return p[0] > 0 && p[1] > 0 && std::isfinite(p[0]) && std::isfinite(p[1])
               ? nullptr
               : "concentration and rate must be positive and finite";
  }
  static double draw(const P& p, Rng& rng);
  static double log_prob(const P& p, double x) {
    if (!(x >= 0)) return -kInfinity;
    return p[0] * std::log(p[1]) + x_log_y(p[0] - 1, x) - p[1] * x - log_gamma(p[0]);
  }
  static double mean(const P& p) { return p[0] / p[1]; }
  static double variance(const P& p) { return p[0] / (p[1] * p[1]); }
  static Support support(const P&) { return {0, kInfinity}; }
  static std::optional<double> kl(const P& p, const P& q) {
    return (p[0] - q[0]) * digamma(p[0]) - log_gamma(p[0]) + log_gamma(q[0]) +
           q[0] * std::log(p[1] / q[1]) + p[0] * (q[1] / p[1] - 1);
  }
};

struct LogNormal {
  static constexpr std::string_view kName = "LogNormal";
  static constexpr std::array<std::string_view, 2> kParameters{"loc", "scale"};
  using P = Parameters<2>;
  static const char* problem(const P& p) {
    if (!std::isfinite(p[0])) return "loc must be finite";
    return p[1] > 0 && std::isfinite(p[1]) ? nullptr : "scale must be positive and finite";
  }
  static double draw(const P& p, Rng& rng) {
    return inside_positive(std::exp(p[0] + p[1] * rng.normal()));
  }
  static double log_prob(const P& p, double x) {
    return x > 0 ? Normal::log_prob(p, std::log(x)) - std::log(x) : -kInfinity;
  }
  static double mean(const P& p) { return std::exp(p[0] + 0.5 * p[1] * p[1]); }
  static double variance(const P& p) {
    const double s = p[1] * p[1];
    return std::exp(2 * p[0] + 2 * s + std::log1p(-std::exp(-s)));
  }
  static Support support(const P&) { return {0, kInfinity}; }
  static std::optional<double> kl(const P& p, const P& q) { return Normal::kl(p, q); }
};

struct Binomial {
  static constexpr std::string_view kName = "Binomial";
  static constexpr std::array<std::string_view, 2> kParameters{"total_count", "probs"};
  using P = Parameters<2>;
  static const char* problem(const P& p) {
    if (!(p[0] >= 0 && p[0] == std::floor(p[0]) && p[0] < 0x1p53)) {
      return "total_count must be a whole number";
    }
    return p[1] >= 0 && p[1] <= 1 ? nullptr : "probs must lie in [0, 1]";
  }
  static double draw(const P& p, Rng& rng);
  static double log_prob(const P& p, double x) {
    if (x < 0 || x > p[0] || x != std::floor(x)) return -kInfinity;
    const double rest = p[0] - x;
    if (x == 0) return rest == 0 ? 0 : rest * std::log1p(-p[1]);
    if (rest == 0) return x * std::log(p[1]);
    if (p[1] == 0 || p[1] == 1) return -kInfinity;
    return stirling_error(p[0]) - stirling_error(x) - stirling_error(rest) -
           deviance(x, p[0] * p[1]) - deviance(rest, p[0] * (1 - p[1])) - kLogSqrt2Pi +
           0.5 * (std::log(p[0]) - std::log(x) - std::log(rest));
  }
  static double mean(const P& p) { return p[0] * p[1]; }
  static double variance(const P& p) { return p[0] * p[1] * (1 - p[1]); }
  static Support support(const P& p) { return {0, p[0], true}; }
  static std::optional<double> kl(const P& p, const P& q) {
    if (p[0] == 0 || p[1] == 0) return -log_prob(q, 0);  // all mass on zero
    if (p[0] != q[0]) return p[0] > q[0] ? std::optional(kInfinity) : std::nullopt;
    return p[0] * *Bernoulli::kl({p[1]}, {q[1]});
  }
};

struct Weibull {
  static constexpr std::string_view kName = "Weibull";
  static constexpr std::array<std::string_view, 2> kParameters{"scale", "concentration"};
  using P = Parameters<2>;
  static const char* problem(const P& p) {
    return p[0] > 0 && p[1] > 0 && std::isfinite(p[0]) && std::isfinite(p[1])
               ? nullptr
               : "scale and concentration must be positive and finite";
  }
  static double draw(const P& p, Rng& rng) {
    return inside_positive(p[0] * std::pow(rng.exponential(), 1 / p[1]));
  }
  static double log_prob(const P& p, double x) {
    if (!(x >= 0)) return -kInfinity;
    return std::log(p[1]) - std::log(p[0]) + x_log_y(p[1] - 1, x / p[0]) - std::pow(x / p[0], p[1]);
  }
  static double mean(const P& p) { return p[0] * std::exp(log_gamma(1 + 1 / p[1])); }
  static double variance(const P& p) {
    if (p[1] > 1e4) return p[0] * p[0] * M_PI * M_PI / (6 * p[1] * p[1]);  // it would cancel
    const double m = mean(p);
    return m * m * std::expm1(log_gamma(1 + 2 / p[1]) - 2 * log_gamma(1 + 1 / p[1]));
  }
  static Support support(const P&) { return {0, kInfinity}; }
  static std::optional<double> kl(const P& p, const P& q) {
    constexpr double kEulerGamma = 0.57721566490153286061;
    return std::log(p[1]) - p[1] * std::log(p[0]) - std::log(q[1]) + q[1] * std::log(q[0]) +
           (p[1] - q[1]) * (std::log(p[0]) - kEulerGamma / p[1]) +
           std::exp(q[1] * std::log(p[0] / q[0]) + log_gamma(q[1] / p[1] + 1)) - 1;
  }
};

// Normal(mean, stddev) restricted to [low, high]; mean and stddev are those before truncation.
struct TruncatedNormal {
  static constexpr std::string_view kName = "TruncatedNormal";
  static constexpr std::array<std::string_view, 4> kParameters{"mean", "stddev", "low", "high"};
  using P = Parameters<4>;
  static const char* problem(const P& p) {
    if (const char* wrong = Normal::problem({p[0], p[1]})) return wrong;
    if (!(p[2] < p[3])) return "low must be less than high";
    // Beyond this not even logarithms tell the densities of values apart.
    constexpr double kFarthest = 1e100;
    return p[2] - p[0] < kFarthest * p[1] && p[0] - p[3] < kFarthest * p[1]
               ? nullptr
               : "low and high lie too far from mean";
  }
  static double draw(const P& p, Rng& rng);
  static double log_prob(const P& p, double x);
  static double mean(const P& p);
  static double variance(const P& p);
  static Support support(const P& p) { return {p[2], p[3]}; }
  static std::optional<double> kl(const P& p, const P& q);
};

}  // namespace family
}  // namespace psn
