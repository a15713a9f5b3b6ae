// What a family with independent components declares: a kernel, the law of one number.
//
//   kName, kId       the word and the number that files carry; neither ever changes
//   kDomain          where values lie, whatever the parameters
//   kParameters      name, link and role of each
//   problem(p)       what is wrong with the parameters, or nullptr
//   draw, log_prob, mean, variance, support
//   kl(p, q)         closed form; nullopt: there is none
//   score(q, x)      derivative of log_prob by each parameter (families whose head is derived:
//                    psn/nn/heads/head.h)
//   expected_score(p, q)  its expectation under p, where it has a closed form
//   kLogarithmic     the family is that of a number whose logarithm has location and scale
//
// `Independent<Kernel>` lifts it to any shape by broadcasting its parameters. All else that depends
// on the family - names, dispatch, heads, proposals, stores, the wire - follows from the list in
// families.h.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

#include "psn/base/numerics.h"
#include "psn/base/rng.h"
#include "psn/core/value.h"

namespace psn {

// Where a scalar component may lie; both ends inclusive for discrete families.
struct Support {
  double low = -kInfinity;
  double high = kInfinity;
  bool discrete = false;
};

// The sort of a family's support.
enum class Domain : std::uint8_t {
  kReal,
  kInterval,
  kPositive,
  kInteger,
  kCategory,
};

namespace family {

// What a real number goes through to become the parameter.
enum class Link : std::uint8_t {
  kReal,
  kPositive,
  kProbability,
  kSimplex,
  kGiven,  // nothing: it is known from the support
};

// How the parameter changes with the unit that values are measured in.
enum class Role : std::uint8_t {
  kLocation,
  kScale,
  kSize,   // a scale of positive values: their distance from zero
  kRate,   // the inverse of that
  kShape,  // not at all
  kLow,    // the ends of the support
  kHigh,
};

struct Parameter {
  std::string_view name;
  Link link;
  Role role;
};

template <std::size_t N>
using Parameters = std::array<double, N>;

// Draws on the positive half-line stay off its ends, where densities may be infinite.
inline double inside_positive(double x) {
  return std::clamp(x, std::numeric_limits<double>::min(), std::numeric_limits<double>::max());
}

}  // namespace family

// A family with independent components: one Value per parameter of the kernel.
template <class K>
struct Independent {
  using Kernel = K;
  static constexpr std::size_t kArity = K::kParameters.size();
  static constexpr std::string_view kName = K::kName;
  static constexpr std::uint8_t kId = K::kId;
  static constexpr Domain kDomain = K::kDomain;
  static constexpr bool kLogarithmic = requires { K::kLogarithmic; };
  static constexpr const auto& kParameters = K::kParameters;

  template <class... V>
  requires(sizeof...(V) == kArity && (std::is_convertible_v<V, Value> && ...))
      Independent(V&&... values)
      : parameters{Value(std::forward<V>(values))...} {}

  std::array<Value, kArity> parameters;
};

}  // namespace psn
