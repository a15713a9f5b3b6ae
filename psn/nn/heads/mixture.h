// A mixture of normals over the whole value: weights, then means and scales of each component.
// Internal to psn/nn.
#pragma once

#include "psn/nn/heads/componentwise.h"

namespace psn::heads {

template <>
struct HeadOf<Mixture> {
  static std::size_t count(const ValueType& type) {
    return type.mixture * (1 + 2 * type.components());
  }
  static std::vector<Output> outputs(const ValueType& type) {
    std::vector<Output> result(type.mixture, {Link::kSimplex, Role::kShape, 0});
    const auto part = HeadOf<Normal>::outputs(type);
    for (std::size_t c = 0; c < type.mixture; ++c) {
      result.insert(result.end(), part.begin(), part.end());
    }
    return result;
  }
  static Distribution distribution(const ValueType& type, const Scaling& scaling, const float* o) {
    const std::size_t k = type.mixture, n = type.components();
    std::vector<double> weights(o, o + k);
    const double log_z = log_sum_exp(weights);
    for (double& w : weights) w = std::exp(w - log_z);
    std::vector<Distribution> parts;
    const ValueType part{family_of<Normal>, type.shape, 0, 0};
    for (std::size_t c = 0; c < k; ++c) {
      parts.push_back(HeadOf<Normal>::distribution(part, scaling, o + k + 2 * c * n));
    }
    return Mixture(Value(weights), std::move(parts));
  }
  static HeadLoss loss(const ValueType& type, const Scaling& scaling, const float* o,
                       const Value& x, const Distribution*, float* gradient) {
    const std::size_t k = type.mixture, n = type.components();
    std::vector<double> log_terms(k), g(2 * k * n);
    std::vector<double> weights(o, o + k);
    const double log_z = log_sum_exp(weights);
    for (std::size_t c = 0; c < k; ++c) {
      log_terms[c] = o[c] - log_z;
      for (std::size_t i = 0; i < n; ++i) {
        const Unit unit = unit_of(scaling, i);
        const std::size_t at = 2 * (c * n + i);
        log_terms[c] -=
            NormalHead::loss(o + k + at, unit, NormalHead::statistics(x[i], unit), &g[at]);
      }
    }
    const double log_prob = log_sum_exp(log_terms);
    if (gradient) {
      for (std::size_t c = 0; c < k; ++c) {
        const double share = std::exp(log_terms[c] - log_prob);
        gradient[c] = static_cast<float>(std::exp(o[c] - log_z) - share);
        for (std::size_t j = 0; j < 2 * n; ++j) {
          gradient[k + 2 * c * n + j] = static_cast<float>(share * g[2 * c * n + j]);
        }
      }
    }
    return {-log_prob, log_prob};
  }
};

}  // namespace psn::heads
