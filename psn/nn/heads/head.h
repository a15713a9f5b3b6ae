// Heads: how the raw outputs of a network layer become a distribution, and how well that
// distribution explains a value. All follows from what the family declares (psn/nn/heads): its
// parameters' links and roles, and its score. Where the score has an expectation in closed form
// under the simulator's own distribution p, the loss is the cross entropy from p, whose gradient is
// that of the KL divergence, at lower variance than with the value drawn.
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
  Family family = family_of<Normal>;
  Shape shape;                   // of a value
  std::uint32_t categories = 0;  // of a Categorical
  std::uint32_t mixture = 0;     // components of a Mixture's head

  // What is wrong with it: more than a network or its file takes. The others need that there is
  // nothing.
  std::optional<std::string> problem() const;
  // The same, and more than a surrogate's head takes.
  std::optional<std::string> head_problem() const;
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

// Changes the last layer of a head (a row of `columns` for each output, its bias last) so that no
// distribution changes when the scaling does.
void rescale_outputs(const ValueType& type, const Scaling& from, const Scaling& to, float* weights,
                     std::size_t columns);

}  // namespace psn
