// The head of a family whose components hang together. It follows from what the family declares: an
// output for each number of each parameter, links, roles, score. Internal to psn/nn.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "psn/core/families/joint.h"
#include "psn/nn/heads/componentwise.h"

namespace psn::heads {

// What the numbers of a parameter are, as outputs.
inline void append_outputs(const Parameter& p, std::size_t n, std::vector<Output>& outputs) {
  for (std::size_t i = 0; i < n; ++i) {
    if (p.link != Link::kTriangle) {
      outputs.push_back({p.link, p.role, i});
      continue;
    }
    for (std::size_t j = 0; j <= i; ++j) {
      outputs.push_back({i == j ? Link::kPositive : Link::kReal, p.role, i});
    }
  }
}

template <class D>
requires IsJoint<D>
struct HeadOf<D> {
  using K = typename D::JointKernel;
  static constexpr std::size_t kArity = D::kArity;
  // Of a triangle: its outputs are 131,328 then, and grow by the square.
  static constexpr std::size_t kMostRows = 512;

  static std::optional<std::string> problem(const ValueType& type) {
    if (type.shape.size() == 1 && type.components() >= K::kFewest) return std::nullopt;
    return fmt::format("a {} of shape [{}]", K::kName, fmt::join(type.shape, ","));
  }

  static std::optional<std::string> head_problem(const ValueType& type) {
    const bool triangle = std::any_of(K::kParameters.begin(), K::kParameters.end(),
                                      [](auto& p) { return p.link == Link::kTriangle; });
    if (!triangle || type.components() <= kMostRows) return std::nullopt;
    return fmt::format("a {} of {} components; a surrogate takes {} at most", K::kName,
                       type.components(), kMostRows);
  }

  static std::size_t count(const ValueType& type) {
    std::size_t sum = 0;
    for (const Parameter& p : K::kParameters) sum += family::count(p.link, type.components());
    return sum;
  }

  static std::vector<Output> outputs(const ValueType& type) {
    std::vector<Output> result;
    result.reserve(count(type));
    for (const Parameter& p : K::kParameters) append_outputs(p, type.components(), result);
    return result;
  }

  static Distribution distribution(const ValueType& type, const Scaling& scaling, const float* o) {
    const Point at(type, scaling, o);
    typename D::Values values;
    for (std::size_t k = 0; k < kArity; ++k) values[k] = Value(at.parameters[k]);
    return D(std::move(values));
  }

  static HeadLoss loss(const ValueType& type, const Scaling& scaling, const float* o,
                       const Value& x, const Distribution* p, float* gradient) {
    const Point at(type, scaling, o);
    const auto* known = p ? std::get_if<D>(&p->variant()) : nullptr;
    const double log_prob = K::log_prob(at.parameters, x.components());
    // The divergence: the cross entropy but for what the outputs do not change.
    const double loss = known ? K::kl(numbers_of(*known), at.parameters) : -log_prob;
    if (!gradient) return {loss, log_prob};
    std::vector<double> score(at.slopes.size());
    const auto by = split<family::NumbersOut>(type, score);
    known ? K::expected_score(numbers_of(*known), at.parameters, by)
          : K::score(at.parameters, x.components(), by);
    for (std::size_t k = 0; k < score.size(); ++k) {
      gradient[k] = static_cast<float>(-score[k] * at.slopes[k]);
    }
    return {loss, log_prob};
  }

 private:
  // One list after the other as a list for each parameter.
  template <class List, class All>
  static std::array<List, kArity> split(const ValueType& type, All& all) {
    std::array<List, kArity> lists;
    std::size_t at = 0;
    for (std::size_t k = 0; k < kArity; ++k) {
      const std::size_t length = family::count(K::kParameters[k].link, type.components());
      lists[k] = List(all.data() + at, length);
      at += length;
    }
    return lists;
  }

  // The parameters for some outputs, and the derivative of each number by its output.
  struct Point {
    Point(const ValueType& type, const Scaling& scaling, const float* o) {
      for (const Output& output : outputs(type)) {
        const Linked x = linked(output.link, *o++);
        const Unit unit = unit_of(scaling, output.component);
        const Role unshifted = output.role == Role::kLocation ? Role::kScale : output.role;
        numbers.push_back(in_unit(output.role, x.value, unit));
        slopes.push_back(in_unit(unshifted, x.slope, unit));
      }
      parameters = split<family::Numbers>(type, numbers);
    }
    Point(const Point&) = delete;
    Point& operator=(const Point&) = delete;

    std::vector<double> numbers, slopes;
    typename K::P parameters;  // within `numbers`
  };
};

}  // namespace psn::heads
