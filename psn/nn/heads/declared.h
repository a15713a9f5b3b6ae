// The head of a kernel, for one component of a value. It follows from what the family declares: an
// output for each parameter that is not given, its link, its role, the family's score. Families
// with sufficient statistics have a head of their own (statistics.h). Internal to psn/nn.
//
// Each has
//   kOutputs         link and role of each output
//   parameters(o, unit)      the family's parameters
//   statistics(x, unit)      what the loss needs of a value
//   expected(p, unit)        its expectation under the simulator's own distribution; or nothing
//   loss(o, unit, statistics, gradient)  -log s, with the gradient for the outputs
#pragma once

#include <array>

#include "psn/nn/heads/unit.h"

namespace psn::heads {

template <class K>
constexpr std::size_t count_learned() {
  std::size_t count = 0;
  for (const Parameter& p : K::kParameters) count += p.link != Link::kGiven;
  return count;
}

template <class K>
constexpr auto learned() {
  std::array<Parameter, count_learned<K>()> result{};
  std::size_t next = 0;
  for (const Parameter& p : K::kParameters) {
    if (p.link != Link::kGiven) result[next++] = p;
  }
  return result;
}

// Outputs and parameters as they are declared.
template <class K>
struct Declared {
  static constexpr auto kOutputs = learned<K>();

  static typename K::P parameters(const float* o, const Unit& unit) {
    typename K::P p;
    for (std::size_t k = 0; k < p.size(); ++k) {
      const auto [name, link, role] = K::kParameters[k];
      p[k] = in_unit(role, link == Link::kGiven ? 0 : linked(link, *o++).value, unit);
    }
    return p;
  }
};

template <class K>
struct Head : Declared<K> {
  using P = typename K::P;

  static double statistics(double x, const Unit&) { return x; }
  // clang-format off
  static P expected(const P& p, const Unit&) requires requires { K::expected_score(p, p); } {
    return p;
  }
  // clang-format on
  static double loss(const float* o, const Unit& unit, double x, double* g) {
    const P p = Declared<K>::parameters(o, unit);
    chain(o, unit, K::score(p, x), g);
    return -K::log_prob(p, x);
  }
  // The divergence: the cross entropy but for what the outputs do not change.
  static double loss(const float* o, const Unit& unit, const P& from, double* g) {
    const P p = Declared<K>::parameters(o, unit);
    chain(o, unit, K::expected_score(from, p), g);
    return *K::kl(from, p);
  }

 private:
  static void chain(const float* o, const Unit& unit, const P& score, double* g) {
    for (std::size_t k = 0; k < score.size(); ++k) {
      const auto [name, link, role] = K::kParameters[k];
      if (link == Link::kGiven) continue;
      const double by_link = in_unit(role == Role::kLocation ? Role::kScale : role, 1, unit);
      *g++ = -score[k] * by_link * linked(link, *o++).slope;
    }
  }
};

}  // namespace psn::heads
