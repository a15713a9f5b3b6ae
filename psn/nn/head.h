// Heads: how the raw outputs of a network layer become a distribution, and how well that
// distribution explains a value. One kernel per family, all driven by sufficient statistics:
//
//   -log s(x) = -eta(o) . T(x) + A(o)
//
// With T(x) of the value drawn it is the negative log likelihood; with E_p[T] of the simulator's
// own distribution p it is the cross entropy from p, whose gradient is that of the closed-form KL
// divergence, at lower variance. Families without such a form use the value drawn.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "psn/core/distribution.h"
#include "psn/nn/scaling.h"

namespace psn {

// What an address's distribution is like: fixed for an address.
struct ValueType {
  Family family = Family::kNormal;
  Shape shape;                   // of a value
  std::uint32_t categories = 0;  // of a Categorical
  std::uint32_t mixture = 0;     // components of a Mixture's head

  // What is wrong with it: more than a network or its file takes. The others need that there is
  // nothing.
  std::optional<std::string> problem() const;
  std::size_t components() const { return element_count(shape); }
  // Outputs that the head needs, for all components.
  std::size_t outputs() const;
  // Numbers that represent a value as a network's input.
  std::size_t inputs() const;
};

// The representation of a value as network input: standardised numbers, one-hot categories.
void represent(const ValueType& type, const Scaling& scaling, const Value& x, float* out);

// The distribution for raw outputs.
Distribution head_distribution(const ValueType& type, const Scaling& scaling, const float* outputs);

// log s(x), and the gradient of the loss with respect to the outputs (if `gradient` is not null).
// The loss is -log s(x), or the cross entropy from `p` if it is given and the family has one.
struct HeadLoss {
  double loss;      // what was differentiated
  double log_prob;  // log s(x)
};
HeadLoss head_loss(const ValueType& type, const Scaling& scaling, const float* outputs,
                   const Value& x, const Distribution* p, float* gradient);

}  // namespace psn
