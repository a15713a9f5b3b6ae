// Logits. Internal to psn/nn.
#pragma once

#include "psn/nn/heads/componentwise.h"

namespace psn::heads {

template <>
struct HeadOf<Categorical> {
  static std::size_t count(const ValueType& type) { return type.components() * type.categories; }
  static std::vector<Output> outputs(const ValueType& type) {
    return {count(type), {Link::kSimplex, Role::kShape, 0}};
  }
  static Distribution distribution(const ValueType& type, const Scaling&, const float* outputs) {
    std::vector<double> probs(count(type));
    for (std::size_t row = 0; row < type.components(); ++row) {
      const float* logits = outputs + row * type.categories;
      const double largest = *std::max_element(logits, logits + type.categories);
      for (std::size_t c = 0; c < type.categories; ++c) {
        probs[row * type.categories + c] = std::exp(logits[c] - largest);
      }
    }
    Shape shape = type.shape;
    shape.push_back(type.categories);
    return Categorical(Value(std::move(probs), std::move(shape)));
  }
  static HeadLoss loss(const ValueType& type, const Scaling&, const float* o, const Value& x,
                       const Distribution* p, float* gradient) {
    HeadLoss result{0, 0};
    const auto* known = p ? std::get_if<Categorical>(&p->variant()) : nullptr;
    const std::size_t k = type.categories;
    for (std::size_t row = 0; row < type.components(); ++row) {
      const float* logits = o + row * k;
      const double largest = *std::max_element(logits, logits + k);
      double sum = 0;
      for (std::size_t c = 0; c < k; ++c) sum += std::exp(logits[c] - largest);
      const double log_z = largest + std::log(sum);
      const auto drawn = static_cast<std::size_t>(x[row]);
      result.log_prob += logits[drawn] - log_z;
      const double* weights = known ? known->probs.data() + row * k : nullptr;
      double total = 0;
      if (weights) {
        for (std::size_t c = 0; c < k; ++c) total += weights[c];
      }
      for (std::size_t c = 0; c < k; ++c) {
        const double target = weights ? weights[c] / total : (c == drawn ? 1.0 : 0.0);
        result.loss += target * (log_z - logits[c]);
        if (gradient) {
          gradient[row * k + c] = static_cast<float>(std::exp(logits[c] - log_z) - target);
        }
      }
    }
    return result;
  }
};

}  // namespace psn::heads
