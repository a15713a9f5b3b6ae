// HeadOf<D>: the head of a whole value. Here that of a family with independent components. Internal
// to psn/nn.
//
//   outputs(type)                       what each output is
//   distribution(type, scaling, o)
//   loss(type, scaling, o, x, p, gradient)  as head_loss()
#pragma once

#include <vector>

#include "psn/core/families/independent.h"
#include "psn/nn/heads/head.h"
#include "psn/nn/heads/statistics.h"

namespace psn::heads {

template <class D>
struct HeadOf;

template <class K>
struct HeadOf<Independent<K>> {
  using H = Head<K>;
  static constexpr std::size_t kOutputs = H::kOutputs.size();

  static std::size_t count(const ValueType& type) { return type.components() * kOutputs; }

  static std::vector<Output> outputs(const ValueType& type) {
    std::vector<Output> result;
    for (std::size_t i = 0; i < type.components(); ++i) {
      for (const Parameter& p : H::kOutputs) result.push_back({p.link, p.role, i});
    }
    return result;
  }

  static Distribution distribution(const ValueType& type, const Scaling& scaling, const float* o) {
    constexpr std::size_t kArity = K::kParameters.size();
    const std::size_t n = type.components();
    std::array<Value, kArity> values;
    if (type.shape.empty()) {
      const auto p = H::parameters(o, unit_of(scaling, 0));
      for (std::size_t k = 0; k < kArity; ++k) values[k] = p[k];
    } else {
      std::array<std::vector<double>, kArity> columns;
      for (auto& column : columns) column.reserve(n);
      for (std::size_t i = 0; i < n; ++i) {
        const auto p = H::parameters(o + i * kOutputs, unit_of(scaling, i));
        for (std::size_t k = 0; k < kArity; ++k) columns[k].push_back(p[k]);
      }
      for (std::size_t k = 0; k < kArity; ++k) values[k] = Value(std::move(columns[k]), type.shape);
    }
    return std::apply([](auto&... v) { return Distribution(Independent<K>(std::move(v)...)); },
                      values);
  }

  static HeadLoss loss(const ValueType& type, const Scaling& scaling, const float* o,
                       const Value& x, const Distribution* p, float* gradient) {
    HeadLoss result{0, 0};
    const auto* known = p ? std::get_if<Independent<K>>(&p->variant()) : nullptr;
    double g[kOutputs];
    for (std::size_t i = 0; i < type.components(); ++i) {
      const Unit unit = unit_of(scaling, i);
      const float* out = o + i * kOutputs;
      const double nll = H::loss(out, unit, H::statistics(x[i], unit), g);
      result.log_prob -= nll;
      double loss = nll;
      if constexpr (requires { H::expected(parameters_at(*known, i), unit); }) {
        if (known) loss = H::loss(out, unit, H::expected(parameters_at(*known, i), unit), g);
      }
      result.loss += loss;
      if (gradient) {
        for (std::size_t k = 0; k < kOutputs; ++k) {
          gradient[i * kOutputs + k] = static_cast<float>(g[k]);
        }
      }
    }
    return result;
  }
};

}  // namespace psn::heads
