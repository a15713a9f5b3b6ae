// What a family declares: a kernel. That of a family with independent components is the law of one
// number:
//
//   kName, kId       the word and the number that files carry; neither ever changes
//   kDomain          where values lie, whatever the parameters
//   kParameters      name, link and role of each
//   problem(p)       what is wrong with the parameters, or nullptr
//   draw, log_prob, mean, variance, support
//   kl(p, q)         closed form; nullopt: there is none
//   score(q, x)      derivative of log_prob by each parameter (families whose head is derived:
//                    psn/nn/heads/declared.h)
//   expected_score(p, q)  its expectation under p, where it has a closed form
//   kLogarithmic     the family is that of a number whose logarithm has location and scale
//
// `Independent<Kernel>` lifts it to any shape by broadcasting its parameters. Where components hang
// together the kernel is the law of a whole vector, `Joint<Kernel>` makes a family of it, and it
// has the same with lists in the place of numbers, in and out, but for
//
//   kFewest          components that a value must have
//   problem(p)       what links do not say (it is asked after them, and may be left out)
//   kl, score, expected_score  always, and in closed form
//   log_prob_of_present(p, x)  of a value with gaps (NaN), which are integrated out
//   fill(p, x, rng)  draws them given the rest
//   freedom(n), free(p, x, u), bind(p, u, x)  free coordinates (psn/core/free_coordinates.h)
//
// All else that depends on the family - names, dispatch, heads, proposals, random walks, stores,
// the wire - follows from the list in families.h.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
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
  kSimplex,
};

namespace family {

// What a real number goes through to become the parameter.
enum class Link : std::uint8_t {
  kReal,
  kPositive,
  kProbability,
  kSimplex,
  kTriangle,  // the rows of a lower triangle: positive on the diagonal, real elsewhere
  kGiven,     // nothing: it is known from the support
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

// Of a joint family: the numbers of each parameter.
using Numbers = std::span<const double>;
using NumbersOut = std::span<double>;
template <std::size_t N>
using Lists = std::array<Numbers, N>;
template <std::size_t N>
using ListsOut = std::array<NumbersOut, N>;

// How many there are for values of n components.
constexpr std::size_t count(Link link, std::size_t n) {
  return link == Link::kTriangle ? n * (n + 1) / 2 : n;
}
// Where row i of a triangle begins.
constexpr std::size_t row_of_triangle(std::size_t i) {
  return i * (i + 1) / 2;
}

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

// A family whose components hang together: a list of numbers per parameter of the kernel, the first
// of which has as many as a value.
template <class K>
struct Joint {
  using JointKernel = K;
  static constexpr std::size_t kArity = K::kParameters.size();
  using Values = std::array<Value, kArity>;
  static constexpr std::string_view kName = K::kName;
  static constexpr std::uint8_t kId = K::kId;
  static constexpr Domain kDomain = K::kDomain;
  static constexpr bool kLogarithmic = false;
  static constexpr const auto& kParameters = K::kParameters;
  static_assert(kParameters[0].link != family::Link::kTriangle);

  // As the family declares them.
  explicit Joint(Values values) : parameters(std::move(values)) {}

  Values parameters;
  // What is wrong with the last of them, where a constructor could not make it from what it was
  // given: then it is that.
  const char* flaw = nullptr;
};

template <class D>
concept IsJoint = requires {
  typename D::JointKernel;
};

}  // namespace psn
